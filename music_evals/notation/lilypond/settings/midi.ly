% No engraving: of every score only what is meant for MIDI is made, and a score without any is left out.
%
% A book is remade of such scores and goes LilyPond's usual way from there, so that names of files, headers and the order
% of the MIDI files are what they would be. Of the book, also what is not a score (pages, text) is left out.

#(define (midi-only-score score)
   (let ((only (ly:make-score (ly:score-music score))))
     (for-each
      (lambda (output)
        (if (eq? 'midi (ly:output-def-lookup output 'output-def-kind))
            (ly:score-add-output-def! only output)))
      (ly:score-output-defs score))
     (if (module? (ly:score-header score))
         (ly:score-set-header! only (ly:score-header score)))
     only))

% LilyPond keeps parts and scores last first. Scores that follow a part have to be added after it.
#(define (midi-only-contents only book)
   (for-each
    (lambda (part)
      (let ((only-part (ly:make-book-part '())))
        (if (module? (ly:book-header part))
            (ly:book-set-header! only-part (ly:book-header part)))
        (ly:book-add-bookpart! only (midi-only-contents only-part part))))
    (reverse (ly:book-book-parts book)))
   (for-each
    (lambda (score)
      (if (and (ly:score? score) (not (ly:score-error? score)))
          (let ((only-score (midi-only-score score)))
            (if (pair? (ly:score-output-defs only-score))
                (ly:book-add-score! only only-score)))))
    (reverse (ly:book-scores book)))
   only)

#(define (default-toplevel-book-handler book)
   (print-book-with-defaults
    (midi-only-contents
     (ly:make-book (or (ly:book-paper book) $defaultpaper) (ly:book-header book))
     book)))

#(define toplevel-book-handler default-toplevel-book-handler)
