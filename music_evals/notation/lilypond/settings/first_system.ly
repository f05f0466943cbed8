% The first systems of a text's first score, as system.png, and nothing else: no MIDI, no pages, no titles.
%
% What comes ahead of this defines how high they may be together, beside the first one, in staff spaces (room-wanted).
%
% The whole music is read, but what comes after its first whole notes (notes-wanted) is not typeset, which spares the
% time that long music takes. Cutting it short there would spare more, but LilyPond 2.24.3 then crashes at some open ties.

#(use-modules (lily paper-system))
#(ly:set-option 'resolution 96)
#(define system-wanted #t)

#(define (first-score book)
   (or (find (lambda (score) (and (ly:score? score) (not (ly:score-error? score)))) (reverse (ly:book-scores book)))
       (any first-score (reverse (ly:book-book-parts book)))))

#(define (typeset-opening music)
   (if (ly:moment<? (ly:music-length music) (ly:make-moment notes-wanted))
       music
       (make-simultaneous-music
        (list
         (make-sequential-music
          (list (make-music 'SkipMusic 'duration (ly:make-duration 0 0 notes-wanted))
                (context-spec-music (make-property-set 'skipTypesetting #t) 'Score)))
         music))))

% LilyPond draws what lies within the extent of a stencil; braces and names of instruments lie without.
#(define (with-margin stencil)
   (ly:make-stencil (ly:stencil-expr stencil)
                    (interval-widen (ly:stencil-extent stencil X) 4)
                    (interval-widen (ly:stencil-extent stencil Y) 2)))

#(define (fitting stencils room)
   (if (null? stencils)
       '()
       (let ((left (- room (interval-length (ly:stencil-extent (car stencils) Y)))))
         (if (< left 0) '() (cons (car stencils) (fitting (cdr stencils) left))))))

#(define (stacked stencils)
   (if (null? (cdr stencils))
       (car stencils)
       (stack-stencils Y DOWN 2 (cons (car stencils) (fitting (cdr stencils) room-wanted)))))

% Stands in for the breaking of pages, which is where the systems are there; there are to be no pages.
#(define (draw-first-system paper-book)
   (let ((systems (ly:paper-book-systems paper-book)))
     (if (pair? systems)
         (ly:cairo-output-stencil "system" (with-margin (stacked (map paper-system-stencil systems)))
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
