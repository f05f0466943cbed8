"""Telling a refusal: a reply that will not, cannot or does not know, or that says that it got no music to look at.

English, Chinese, German, French, Italian, Spanish and Japanese. The patterns know what such replies say; readers that
take a word for "none" or "no" know besides what such an answer is made of (`absence`), so that a refusal in words that
no pattern knows is not taken for one.
"""

import re
import unicodedata
from typing import Final

_MAX: Final = 4_000
_MEDIUM: Final = (
    r"(?:image|picture|photo|figure|scan|score|sheet|music|audio|sound|clip|file|recording|attachment|attached|excerpt"
    r"|input|notation|document|pdf|page|midi|abc|content|context|information|info|data|details?|staff|upload|link|media"
    r"|material|source|question|text|way)s?\b"
)
_SEE: Final = (
    r"(?:see|view|read|hear|listen|access|open|play|load|find|locate|perceive|determine|identify|tell|say|answer|provide"
    r"|process|analy[sz]e|assess|know|make|help|assist|comply|decipher|display|confirm|recogni[sz]e|interpret|inspect"
    r"|examine|give|infer|verify|evaluate|complete|fulfil|fulfill|do|deduce|establish|ascertain|judge|decide|respond"
    r"|work|look|check|guess|offer|share|discuss|engage|speak|comment|be (?:sure|certain|of|determined|identified|read|answered"
    r"|said|known|told|seen|heard|established|inferred|verified|judged|ascertained|decided|deduced|made|done|found))\b"
)
_ENGLISH: Final = (
    rf"\b(?:can ?not|can'?t|could(?: not|n'?t)|unable to|not able to|(?:im|not )possible to|(?:won'?t|will not|wouldn'?t)"
    rf"|not (?:going|willing|allowed|permitted|equipped|designed) to|(?:refuse|decline) to"
    rf"|no (?:possible )?way (?:to|of)|lack the ability to|(?:hard|difficult|tough) to|incapable of)\s(?:\w+\s){{0,3}}?{_SEE}",
    rf"\b(?:no|without (?:the |an? |any )?|lacks? (?:the |an? |any )?|missing|haven'?t (?:\w+\s){{0,3}}?(?:the |an? |any )?"
    rf"|(?:don'?t|do not|did(?: not|n'?t)) (?:see|have|find|receive|get|detect|hear) (?:the |an? |any |enough |access to )?"
    rf"|(?:not|never) (?:\w+\s){{0,2}}?(?:given|provided|shown|sent|supplied|attached)(?: with)? (?:the |an? |any )?"
    rf"|(?:not|in)(?: enough|sufficient)|only (?:see|have|got)|0|zero) ?(?:\w+\s){{0,2}}?{_MEDIUM}",
    rf"\b{_MEDIUM}(?: \w+){{0,3}}? (?:(?:(?:is|was|are|were|has|have|does|did)(?: not|n'?t)|not) (?:\w+ ){{0,2}}?(?:provided|attached|available|visible|load\w*"
    r"|open|included|accessible|legible|readable|given|supplied|uploaded|clear|enough|shown|displayed|received|found|shared|sent|working|supported|come|appear)|failed|unavailable|appears? to be missing"
    r"|unreadable|illegible|blank|corrupt|(?:is|was|are) (?:missing|blank|empty|black|unclear|unavailable|unreadable"
    r"|illegible|corrupt|too))",
    r"\b(?:do not|don'?t|dont|does not|doesn'?t|didn'?t|wouldn'?t) (?:\w+\s){0,2}?(?:know|understand|recogni[sz]e|recall"
    r"|remember|have (?:enough|access|the (?:ability|information)|an? (?:answer|idea)|any (?:idea|clue|way)|what))\b",
    r"\bno (?:\w+ )?(?:idea|clue|answer|comment|response|opinion|guess|access|thanks?|thank you|problem|one knows|input)\b",
    r"\b(?:unknown|undetermined|undeterminable|indeterminate|indeterminable|undecidable|unclear|unsure|uncertain"
    r"|insufficient|unanswerable|unreadable|illegible|idk|dunno|n/ ?a|tbd|unavailable|inaccessible)\b",
    r"\bnot (?:\w+ )?(?:sure|certain|known|clear|determinable|determined|answerable|applicable|available|enough"
    r"|sufficient|legible|readable|accessible|possible|qualified|comfortable|decidable|knowable)\b",
    r"\b(?:please|kindly|could you|can you|would you|if you)\b.{0,80}?\b(?:provide|upload|attach|share|send|supply|paste"
    r"|give|resend|re-?upload|describe|include|show|clarify|post|try)\b",
    r"\b(?:as an? (?:\w+ ){0,3}?(?:ai|llm|model|assistant)|language model|i'?m (?:an? )?(?:ai|just|only|sorry|afraid|unable)"
    r"|i am (?:an? )?(?:ai|just|only|sorry|afraid|unable)|sorry|apolog\w+|regret|unfortunately|beyond my"
    r"|against (?:my|the) (?:policy|guidelines)|who knows|beats me|(?:anybody|anyone)'?s guess|your guess"
    r"|prevents? me|i (?:would )?need (?:to (?:see|hear|know)|the|an?|more)|no longer|nothing (?:was|to (?:see|read|go on|hear"
    r"|work with)|i can|here|visible|is (?:visible|shown)|attached)|there is nothing (?:i|to|for me|here)|haven'?t (?:been (?:given|provided)|got an?)|forgot to (?:attach|send|include|upload)|nothing can be|violates?\b.{0,30}\bpolic\w+|content polic\w+|outside the scope|lack the|capabilities do not|decline"
    r"|refuse|abstain|none of (?:this|that|it)|rather not|prefer not|impossible|(?:see|hear) (?:nothing|no)|skip this|no way"
    r"|no means|failed to|out of scope|only (?:a )?text)\b",
    r"^(?:pass|skip|next|nan|undefined|error|silence|i won'?t|no thanks?|huh|what|sorry)\b[ .!?]*$",
    r"^[?？!.…\s-]+$",
)
_CHINESE: Final = (
    r"无法|不能(?:够)?(?:回答|确定|判断|看|识别|读|提供|听|查|访问|给|得|辨|告诉|打开|分析)|不(?:知道|清楚|确定|太清楚|明白|晓得|了解|详|明确?)",
    r"没(?:有)?(?:看|收|提供|听|找|足够|给|上传|附|图|乐谱|音频|谱子|曲谱|文件|信息|附件|办法|答案|线索|头绪|任何(?:图|乐谱|音频|信息|文件|线索)|能力"
    r"|见|法)",
    r"未(?:能|提供|收到|看到|给出|上传|附|知|见到|找到|检测到)|请(?:您|你)?(?:先|再|重新)?(?:提供|上传|发送|发|给|附|描述|补充|分享)",
    r"抱歉|对不起|很遗憾|遗憾|不好意思|作为(?:一个|一名)?(?:AI|ai|人工智能|语言模型|大模型)|难以|很难|看不|听不|读不|说不|答不|不可(?:知|能判断|能确定)"
    r"|缺少|缺乏|不足|拒绝|超出|不具备|无(?:从|图|乐谱|音频|谱|信息|可奉告|能为力)|不便|恕|不会(?:回答|做|读)?$|不支持|(?:图|谱|文件|音频|信息)\S{0,4}(?:缺失"
    r"|为空|不存在|模糊|损坏)",
)
_GERMAN: Final = (
    r"\bkann (?:\w+ ){0,8}?nicht|\b(?:keine?n?|ohne) (?:\w+ ){0,2}?(?:ahnung|bild|partitur|audio\w*|datei\w*|information\w*"
    r"|angabe\w*|aufnahme\w*|antwort|zugriff|notenbild\w*|notenblatt|notentext|anhang|idee|daten|noten ?$|noten (?:sehen|vor)"
    r"|musik\w*|vorlage|schimmer|plan|aussage|moglichkeit)",
    r"\b(?:weiss|weiß) (?:\w+ ){0,4}?nicht|\bnicht (?:\w+ ){0,2}?(?:bestimm\w*|erkenn\w*|lesbar|sichtbar|moglich|ersichtlich"
    r"|feststell\w*|festzustell\w*|beantwort\w*|zu (?:erkennen|sagen|bestimmen|sehen|ermitteln)|sehen|horen|lesen|sagen"
    r"|beurteilen|genug|genugend|ausreich\w*|verfugbar|bekannt|in der lage|sicher|vorhanden ist das|mitgeschickt|beigefugt"
    r"|hochgeladen|ubermittelt|angehangt|helfen|dienen)",
    r"\b(?:leider|entschuldig\w*|verzeih\w*|tut mir leid|unbekannt|unmoglich|unklar|unbestimmt|als (?:ki|sprachmodell|ai)\b"
    r"|bitte|ausserstande|außerstande|verweiger\w*|zu wenig information\w*|keine noten (?:mitgeschickt|beigefugt|erhalten|vorhanden|angehangt)|lasst sich (?:\w+ ){0,4}?nicht|fehlt|fehlen|kein plan|keinen?\b.{0,20}\bgesehen)",
)
_ROMANCE: Final = (
    # French
    r"\b(?:je )?n[e'] ?(?:peux|peut|sais|vois|suis|dispose|connais|parviens|comprends|puis|arrive|entends|ai|permet|m'est"
    r"|me permet|saurais|pourrais|possede|l'ai)\b.{0,60}?\b(?:pas|aucune?|rien|point|plus)\b|\bje (?:sais|vois|peux|connais) pas\b",
    r"\b(?:aucune?|pas d[e']|pas assez d[e']|sans (?:l[ae'] ?|une? )?|manque d[e']) ?(?:idee|image|information\w*|partition"
    r"|piste|donnee\w*|reponse|fichier|extrait|document|audio|enregistrement|acces|moyen|musique|contexte)",
    r"\b(?:impossible|desolee?|veuillez|inconnue?|indeterminee?|indeterminable|en tant qu|merci de|pourriez-vous|je l'ignore"
    r"|je refuse|illisible|malheureusement|helas|regrette|s'il (?:vous|te) plait|excusez|pas (?:\w+ )?(?:possible|en mesure|visible"
    r"|lisible|fournie?|jointe?|sure?|certaine?|disponible))\b|\bje ne (?:sais|saurais)\b",
    # Italian
    r"\bnon (?:\w+ )?(?:posso|so|lo so|riesco|vedo|e possibile|sono|ho|saprei|si puo|conosco|disponibil\w*|capisco|leggibil\w*"
    r"|e (?:stat\w|presente alcuna (?:immagine|partitura)|chiaro|noto|dato|determinabile|disponibile|visibile)|c'e (?:alcuna"
    r"|nessuna|modo)|fornit\w|sento|abbastanza|determinabil\w*|ne ho|mi e possibile|saprei|intendo)\b",
    r"\b(?:impossibile|mi dispiace|spiacente|sconosciut\w|ignot\w|per favore|si prega|potresti|potrebbe|purtroppo|scus\w+"
    r"|in quanto (?:ia|modello)|come (?:ia|modello|intelligenza)|boh|indeterminat\w|mi rifiuto|insufficient[ei]|manca(?:no)?"
    r"|nessun[ao']? ?(?:idea|immagine|informazion\w*|partitura|file|audio|allegato|dato|spartito|risposta|modo|musica)"
    r"|senza (?:\w+ )?(?:immagine|partitura|audio|spartito|informazioni|musica))\b",
    # Spanish
    r"\bno (?:\w+ )?(?:puedo|se$|lo se\b|sabria|veo|es posible|tengo|hay (?:imagen|suficiente|ninguna (?:imagen|partitura)|informacion"
    r"|partitura|forma|manera|datos|archivo|audio)|se (?:puede|sabe|proporcion\w*|ha\b|adjunt\w*|incluy\w*|ve\b|distingue)|dispongo"
    r"|estoy|logro|conozco|me es posible|soy capaz|fue|ha sido|entiendo|consigo|oigo|cuento)\b",
    r"\b(?:imposible|ni idea|lo siento|desconocid\w|desconozco|por favor|como (?:ia|modelo|una ia)|disculp\w+|lamento|lamentablemente"
    r"|indetermin\w+|me niego|ilegible|sin (?:la |una |el )?(?:imagen|partitura|acceso|informacion|audio|datos|musica)|ningun[ao]? (?:idea"
    r"|imagen|partitura|informacion|archivo|audio)|falta(?:n)?|insuficiente|perdon\w*|quien sabe|no se[.!,]?$)\b",
    r"\bno se(?:[.!,…]|$)|\bno lo se\b",
)
_JAPANESE: Final = [
    r"(?:分か|わか|判)りません|(?:分|わ)か(?:らない|りかね)|できません|できない|見えません|見えない|聞こえません|読めません|不明|申し訳|すみません|ごめん|(?:画像|楽譜|音声|ファイル|情報|データ|添付|譜面|音源)\S{0,14}(?:ありません|ない|ません)|アップロード|お答え|知りません|判断(?:が)?つ|困難|不可能|してください|いただけ|難しい|かねます"
]

_REFUSAL: Final = [
    re.compile(unicodedata.normalize("NFKC", pattern), re.IGNORECASE | re.DOTALL)
    for pattern in (*_ENGLISH, *_CHINESE, *_GERMAN, *_ROMANCE, *_JAPANESE)
]
_ACCENTS: Final = re.compile("[\u0300-\u036f]")
_APOSTROPHES: Final = str.maketrans("’ʼ`´‘＇", "''''''")


def unaccented(text: str) -> str:
    """The text without accents and compatibility forms: ``ré`` becomes ``re``, ``⁷`` becomes ``7``."""
    plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFKC", plain).translate(_APOSTROPHES)


def is_refusal(text: str) -> bool:
    """Tell whether an answer says that there is none; of a long one the beginning is looked at.

    Example:
        >>> is_refusal("No image is available."), is_refusal("无法判断"), is_refusal("No accidentals")
        (True, True, False)
    """
    plain = " ".join(unaccented(text[:_MAX]).split()).strip("*_\"“”'「」 ")
    return any(pattern.search(plain) for pattern in _REFUSAL)
