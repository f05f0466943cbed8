% What LilyPond understands of each score, written to score-structure.tsv instead of music: one line an event, its fields
% separated by tabs, in the order in which they come. Read by structure.py.
%
%   score   number, kinds of output that the text asks for, separated by commas
%   time    moment, grace, bar number, position in the bar    the clock: once for every moment at which something is
%   metre   moment, grace, numerator, denominator
%   timing  moment, grace, 1 or 0                             whether bars are counted, at every change
%   key     moment, grace, staff, tonic's step and alteration, scale as step:alteration
%   note    moment, grace, staff, voice, step, alteration, octave, duration
%   rest    as note, without pitch; so is skip
%   tie     moment, grace, voice
%   full    moment, grace                                     the table has all the lines that it may have
%   end     moment, grace, bar number, position in the bar
%
% Moments and durations are in whole notes.

#(define structure-port #f)
#(define structure-room 400000)
#(define structure-scores 0)
#(define structure-voices 0)
#(define structure-staves '())

#(define (structure-write . fields)
   (set! structure-room (1- structure-room))
   (cond ((positive? structure-room)
          (display (string-join (map (lambda (field) (format #f "~a" field)) fields) "\t") structure-port)
          (newline structure-port))
         ((zero? structure-room)
          (display "full\t0\t0\n" structure-port))))

#(define (structure-line kind context . fields)
   (let ((now (ly:context-current-moment context)))
     (apply structure-write kind (ly:moment-main now) (if (zero? (ly:moment-grace now)) 0 1) fields)))

% Contexts have no numbers of their own; a staff is numbered when it is heard first.
#(define (structure-staff context)
   (let* ((staff (or (ly:context-find context 'Staff) (ly:context-parent context)))
          (known (assq staff structure-staves)))
     (if known
         (cdr known)
         (let ((number (1+ (length structure-staves))))
           (set! structure-staves (acons staff number structure-staves))
           number))))

#(define (structure-voice context)
   (let ((voice #f))
     (define (number)
       (if (not voice)
           (begin
             (set! structure-voices (1+ structure-voices))
             (set! voice structure-voices)))
       voice)
     (define (hear kind event)
       (let ((pitch (ly:event-property event 'pitch))
             (duration (ly:event-property event 'duration)))
         (apply structure-line kind context (structure-staff context) (number)
                (append
                 (if (ly:pitch? pitch)
                     (list (ly:pitch-notename pitch) (ly:pitch-alteration pitch) (ly:pitch-octave pitch))
                     '("" "" ""))
                 (list (if (ly:duration? duration) (ly:moment-main (ly:duration-length duration)) 0))))))
     (make-performer
      (listeners
       ((note-event performer event) (hear "note" event))
       ((rest-event performer event) (hear "rest" event))
       ((multi-measure-rest-event performer event) (hear "rest" event))
       ((skip-event performer event) (hear "skip" event))
       ((tie-event performer event) (structure-line "tie" context (number)))))))

#(define (structure-key context)
   (make-performer
    (listeners
     ((key-change-event performer event)
      (let ((tonic (ly:event-property event 'tonic)))
        (if (ly:pitch? tonic)
            (structure-line "key" context (structure-staff context)
                   (ly:pitch-notename tonic) (ly:pitch-alteration tonic)
                   (string-join (map (lambda (pair) (format #f "~a:~a" (car pair) (cdr pair)))
                                     (ly:event-property event 'pitch-alist))
                                ","))))))))

#(define (structure-score context)
   (let ((metre #f) (timing #t) (last #f))
     (define (place)
       (list (ly:context-property context 'currentBarNumber 1)
             (ly:moment-main (ly:context-property context 'measurePosition ZERO-MOMENT))))
     (make-performer
      ((process-music performer)
       (let ((now (ly:context-current-moment context))
             (fraction (ly:context-property context 'timeSignatureFraction '(4 . 4)))
             (timed (ly:context-property context 'timing #t)))
         (if (not (equal? now last))
             (begin
               (set! last now)
               (apply structure-line "time" context (place))))
         (if (not (equal? fraction metre))
             (begin
               (set! metre fraction)
               (structure-line "metre" context (car fraction) (cdr fraction))))
         (if (not (equal? timed timing))
             (begin
               (set! timing timed)
               (structure-line "timing" context (if timed 1 0))))))
      ((finalize performer)
       (apply structure-line "end" context (place))))))

structureMidi = \midi {
  \context { \Voice \consists #structure-voice }
  \context { \TabVoice \consists #structure-voice }
  \context { \DrumVoice \consists #structure-voice }
  \context { \Staff \consists #structure-key }
  \context { \Score \consists #structure-score }
}

#(define (structure-score-kinds score)
   (string-join (map (lambda (output) (format #f "~a" (ly:output-def-lookup output 'output-def-kind)))
                     (ly:score-output-defs score))
                ","))

#(define (structure-read-score score)
   (if (and (ly:score? score) (not (ly:score-error? score)))
       (begin
         (set! structure-scores (1+ structure-scores))
         (set! structure-staves '())
         (set! structure-voices 0)
         (structure-write "score" structure-scores (structure-score-kinds score))
         (ly:run-translator (ly:score-music score) structureMidi))))

#(define (structure-read-book book)
   (for-each structure-read-book (reverse (ly:book-book-parts book)))
   (for-each structure-read-score (reverse (ly:book-scores book))))

#(define (default-toplevel-book-handler book)
   (if (not structure-port)
       (set! structure-port (open-file (string-append (ly:parser-output-name) "-structure.tsv") "w")))
   (structure-read-book book)
   (force-output structure-port))

#(define toplevel-book-handler default-toplevel-book-handler)
