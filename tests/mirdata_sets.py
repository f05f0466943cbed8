"""Small datasets in the layouts of mirdata: indexes, annotations, and silence for sound."""

import io
import json
from hashlib import md5

import numpy as np
import soundfile

RATE = 8000


def silence(seconds):
    buffer = io.BytesIO()
    soundfile.write(buffer, np.zeros(round(seconds * RATE)), RATE, format="WAV", subtype="PCM_16")
    return buffer.getvalue()


def put(folder, index, tracks, files):
    """Write files, and the index that names the files of each track with their checksums."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    listed = {
        track: {kind: [name, md5(files.get(name, b"")).hexdigest()] for kind, name in own.items()}
        for track, own in tracks.items()
    }
    (folder / index).write_text(json.dumps({"version": "1.0", "tracks": listed}))
    return folder


def ballroom(folder):
    """A clip of 40 seconds with a beat each 10 seconds, one without sound, one without beats."""
    root = "B_1.0"
    names = ("Media-1", "Media-2", "Media-3")
    tracks = {
        name: {
            "audio": f"{root}/audio/Waltz/{name}.wav",
            "beats": f"{root}/annotations/beats/{name}.beats",
            "tempo": f"{root}/annotations/tempo/{name}.bpm",
        }
        for name in names
    }
    files = {f"{root}/annotations/tempo/{name}.bpm": b"84\n" for name in names}
    for name in names[:2]:
        files[f"{root}/annotations/beats/{name}.beats"] = b"5.5 1\n15.5 2\n25.5 3\n35.5 1\n"
    for name in (names[0], names[2]):
        files[f"{root}/audio/Waltz/{name}.wav"] = silence(40)
    return put(folder, "ballroom_full_index_1.0.json", tracks, files)


def giantsteps_key(folder):
    keys = {"1": b"D major\t\n", "2": b"Bb minor", "3": b"unknown"}
    tracks = {
        name: {
            "audio": f"audio/{name}.mp3",
            "meta": f"meta/{name}.json",
            "key": f"keys_gs+/{name}.txt",
        }
        for name in keys
    }
    files = {f"keys_gs+/{name}.txt": key for name, key in keys.items()}
    files |= {f"audio/{name}.mp3": silence(1) for name in keys}
    return put(folder, "giantsteps_key_index_+.json", tracks, files)


def medley_solos_db(folder, count):
    """Clips of the test split, with the same sound."""
    names = [f"id-{number}" for number in range(count)]
    rows = ["subset,instrument,instrument_id,song_id,uuid4"]
    rows += [f"test,flute,3,0,{name}" for name in names]
    files = {
        "annotation/Medley-solos-DB_metadata.csv": "\n".join(rows).encode(),
        "audio/clip.wav": silence(0.01),
    }
    tracks = {name: {"audio": "audio/clip.wav"} for name in names}
    return put(folder, "medley_solos_db_index_1.2.json", tracks, files)


def gtzan(folder):
    tracks = {
        track: {
            "audio": f"gtzan_genre/genres/{track.partition('.')[0]}/{track}.wav",
            "beats": f"beats/{track}",
            "tempo": f"tempo/{track}",
        }
        for track in ("hiphop.00000", "rock.00010", "rock.00000")
    }
    files = {own["audio"]: silence(0.5) for own in tracks.values()}
    return put(folder, "gtzan_genre_index_1.0.json", tracks, files)


def vocadito(folder):
    tracks = {
        "1": {
            "audio": "Audio/vocadito_1.wav",
            "f0": "f0.csv",
            "lyrics": "lyrics.txt",
            "notesA1": "a1.csv",
            "notesA2": "a2.csv",
        }
    }
    f0 = "".join(f"{n / 20:.2f},{220.0 if n >= 2 else 0.0}\n" for n in range(8)).encode()
    files = {
        "Audio/vocadito_1.wav": silence(12),
        "f0.csv": f0,
        "lyrics.txt": b"la la\nlu\n",
        # Onset, frequency, duration: the second note ends after ten seconds, the third begins then.
        "a1.csv": b"0.5,440,0.25\n9.5,220,1.0\n10.5,220,1.0\n",
        "vocadito_metadata.csv": b"track_id,singer_id,average_pitch,language\n1,s1,60,Tagalog\n",
    }
    return put(folder, "vocadito_index_1.0.json", tracks, files)


def openmic(folder):
    names = ("000046_3840", "000135_483840")
    tracks = {
        name: {"audio": f"audio/{name}.ogg", "vggish": f"vggish/{name}.json"} for name in names
    }
    header = "sample_key,instrument,relevance,num_responses\n"
    labels = [
        "000046_3840,mallet_percussion,0.9,3",
        "000046_3840,flute,0.2,3",
        "000135_483840,flute,1.0,3",
    ]
    metadata = "track_id,track_genres,sample_key,start_time\n" + "".join(
        f"1,[],{name},0.0\n" for name in names
    )
    files = {f"audio/{name}.ogg": silence(1) for name in names}
    files |= {
        "openmic-2018-metadata.csv": metadata.encode(),
        "openmic-2018-aggregated-labels.csv": (header + "\n".join(labels) + "\n").encode(),
        "partitions/split01_test.csv": b"000046_3840\n",
        "partitions/split01_train.csv": b"000135_483840\n",
    }
    return put(folder, "openmic2018_index_1.0.json", tracks, files)
