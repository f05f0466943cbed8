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
      (reverse (ly:score-output-defs score)))
     (if (module? (ly:score-header score))
         (ly:score-set-header! only (ly:score-header score)))
     only))

#(define (midi-only-scores scores)
   (filter-map
    (lambda (score)
      (and (ly:score? score)
           (not (ly:score-error? score))
           (let ((only (midi-only-score score)))
             (and (pair? (ly:score-output-defs only)) only))))
    scores))

#(define (midi-only-part part)
   (let ((only (apply ly:make-book-part (midi-only-scores (ly:book-scores part)))))
     (midi-only-furnish only part)))

#(define (midi-only-furnish only book)
   (if (module? (ly:book-header book))
       (ly:book-set-header! only (ly:book-header book)))
   (for-each
    (lambda (part) (ly:book-add-bookpart! only (midi-only-part part)))
    (reverse (ly:book-book-parts book)))
   only)

#(define (midi-only-book book)
   (midi-only-furnish
    (apply ly:make-book
           (or (ly:book-paper book) $defaultpaper)
           (ly:book-header book)
           (midi-only-scores (ly:book-scores book)))
    book))

#(define (default-toplevel-book-handler book)
   (print-book-with-defaults (midi-only-book book)))

#(define toplevel-book-handler default-toplevel-book-handler)
