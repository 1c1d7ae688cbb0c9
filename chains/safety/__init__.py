"""Safety: check questions, passages and answers for attacks, personal data and leaks.

`CleanQuestions` stands around the chain: it removes invisible characters and personal data from a question before
anything is logged, traced or cached. `CheckQuestion` is a step before the first stage. `Moderate` asks a moderator
while passages are retrieved, and `Safety` drops those that look like an attack. `OutputCheck` filters the model's
words: links that lead elsewhere than the sources do, images, HTML and the recited prompt never reach a reader, and in
a stream they are gone before they are shown.
"""
