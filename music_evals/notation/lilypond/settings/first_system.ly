% The first system of a text's first score, as system.png, and nothing else: no MIDI, no pages, no titles.
%
% The whole music is read, but what comes after its first twelve whole notes is not typeset, which spares the time that
% long music takes. Cutting the music short there would spare more, but LilyPond 2.24.3 then crashes at some open ties.

#(use-modules (lily paper-system))
#(ly:set-option 'resolution 96)
#(define system-wanted #t)

#(define (first-score book)
   (or (find (lambda (score) (and (ly:score? score) (not (ly:score-error? score)))) (reverse (ly:book-scores book)))
       (any first-score (reverse (ly:book-book-parts book)))))

#(define (typeset-opening music)
   (make-simultaneous-music
    (list
     (make-sequential-music
      (list (make-music 'SkipMusic 'duration (ly:make-duration 0 0 12))
            (context-spec-music (make-property-set 'skipTypesetting #t) 'Score)))
     music)))

% LilyPond draws what lies within the extent of a stencil; braces and names of instruments lie without.
#(define (with-margin stencil)
   (ly:make-stencil (ly:stencil-expr stencil)
                    (interval-widen (ly:stencil-extent stencil X) 4)
                    (interval-widen (ly:stencil-extent stencil Y) 2)))

% Stands in for the breaking of pages, which is where the systems are there; there are to be no pages.
#(define (draw-first-system paper-book)
   (let ((systems (ly:paper-book-systems paper-book)))
     (if (pair? systems)
         (ly:cairo-output-stencil "system" (with-margin (paper-system-stencil (car systems)))
                                  (ly:paper-book-paper paper-book) '("png")))
     '()))

#(define (default-toplevel-book-handler book)
   (let ((score (and system-wanted (first-score book))))
     (if score
         (let ((opening (ly:make-score (typeset-opening (ly:score-music score))))
               (paper (ly:output-def-clone (or (ly:book-paper book) $defaultpaper)))
               (layouts (filter (lambda (output) (eq? 'layout (ly:output-def-lookup output 'output-def-kind)))
                                (ly:score-output-defs score))))
           (set! system-wanted #f)
           (ly:score-add-output-def! opening (if (pair? layouts) (car layouts) $defaultlayout))
           (ly:output-def-set-variable! paper 'page-breaking draw-first-system)
           (ly:book-process (ly:make-book paper #f opening) paper $defaultlayout "system")))))

#(define toplevel-book-handler default-toplevel-book-handler)
