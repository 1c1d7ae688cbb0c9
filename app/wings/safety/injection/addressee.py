"""Tell whether an order is meant for the model that reads it: not one that somebody else gave, nor one about the work.

"Ignore all previous instructions" orders the model. "The customer says to ignore the previous instructions" reports an
order, and "Forget the previous booking instructions" is about the work of whoever asks.
"""

import re

from app.wings.safety.injection.classifier import class_of
from app.wings.safety.injection.patterns import ENGLISH_ORDERS, Phrase
from chains.text.words import word_set

# Of a prompt or of rules that are "yours" only a model is asked.
MODELS_BY_NATURE = frozenset({"reveal", "persona"})
LOOK_BACK, LOOK_AHEAD = 300, 60
_SENTENCE_END = re.compile(r"[.!?\n。！？।]")
_QUOTED = re.compile(r"(.*\S)\s*[\"'“”„«‘`]\W*(?:please |kindly )?\Z", re.DOTALL)
_CLAUSE_END = re.compile(r".*(?:[,:;]| (?:und|et|y|e|dan|en) )", re.DOTALL)
_WORD = re.compile(r"[a-z]{2,}")
# Before an order: somebody says it, it is asked whether or when it may be carried out, or it is forbidden.
_REPORTED = re.compile(
    r"\b(?:sa(?:ys?|id|ying)|ask(?:s|ed)|tells|told|wants|wanted|wrote|writes|(?:demand|e-?mail|mail|text|phon|messag|repli|suggest|expect|advis|agre|decid)(?:s|e[sd])|insist(?:s|ed)"
    r"|instruct(?:s|ed)|order(?:s|ed)|request(?:s|ed)|claim(?:s|ed)|reads|stat(?:es|ed)|means?|allowed|forbidden|tried|tries"
    r"|sagt\w*|schreibt|bittet|verlangt|demande|ecrit|dice|pide|escribe|diz|pede|escreve|chiede|zegt|vraagt|meminta|berkata)\b"
    r"|\b(?:do|does|did|can|could|may|might|must|shall|should|will|would|ha(?:s|ve|d)|is|are|was|were|am) "
    r"(?:i|we|he|she|they|it|the|an?|our|my|his|her|their|this|these|that|those|any\w*|some\w*|every\w*|one|there|all)\b"
    r"|\A\W*(?:do|does|did|can|could|may|might|must|shall|should|will|would) (?!you\b)\w"
    r"|\b(?:who|which|what|when|where|why|how|whether|because|unless|that|if)\b(?! you\b)"
    r"|\b(?:he|she|they|we|it|who|everybody|everyone|nobody|anyone|somebody|someone)\b"
    r"|\b(?:do not|don'?t|never|not to|not|cannot|can'?t|won'?t|without|instead of|ne|no|nao|non|niet|nicht|jangan)\s*\Z"
    r"|(?:我|他|她|们|們|客户|客戶|勿|不得|切勿|不可|禁止)[^,。]{0,2}\Z|\bn'\Z"
)
_SOMEBODY = word_set(
    "das der die ein eine er ich wir wer wenn ob il elle je nous on les le si el los las yo eu os uma lo gli io een "
    "het ik saya kami dia jika kalau qui quien quem chi siapa yang кто"
)
# Words without a class that stand in English orders to a model.
SHORT = 3  # Shorter words say nothing of what an order is about.
_PLAIN = word_set(
    "adhere and any aside attention been information comply did ever follow for from get given giving got has have "
    "heed here into its just listen not obey off other that out pay received regard related respect said set such "
    "than the their them then these this those throw told turn was were will with"
)
_OF_A_MODEL = word_set(
    "ADMIN AI ALWAYS ASK CODE DROP EARLIER FREE INSTEAD MUST NEW NOW PLEASE PROMPT REFUSE REVEAL RULE SAY SECRET STOP "
    "SYSTEM TASK YOU YOUR"
)
_READER = frozenset({"ADMIN", "AI", "EARLIER", "ME", "NOW", "PROMPT", "SYSTEM", "YOU", "YOUR"})
_FOLLOWING = re.compile(r"\A +(?:(?:the|an?|our|its) )?([a-z]{3,})")
_SCOPE = re.compile(
    r"\s+(?:of|for|on|in|about|regarding|concerning|from|by|above|below|when|with|to|des|der|fur|zu|im|auf|am|an|von|vom|sur|sobre|em|en|su|di|op|du|de|pour|del"
    r"|para|do|da|della|per|van|voor|untuk|dari|tentang)\b((?: \w+){1,2})"
)


def orders_the_model(text: str, match: re.Match[str], phrase: Phrase) -> bool:
    """Return whether the order that a phrase matched is meant for the model, by the words before, in and behind it."""
    words = _WORD.findall(match[0])
    classes = [class_of(word) for word in words]
    is_models_own = "YOUR" in classes or "PROMPT" in classes
    if phrase.name in MODELS_BY_NATURE and (is_models_own or classes[:1] in (["YOU"], ["AI"])):
        return True
    before = _SENTENCE_END.split(text[max(0, match.start() - LOOK_BACK) : match.start()])[-1]
    introduction = _QUOTED.match(before)
    is_quoted = introduction is not None and not all(map(_is_of_an_order, _WORD.findall(introduction[1])))
    if _REPORTED.search(before) or is_quoted:
        return False
    clause = _CLAUSE_END.sub("", before).split() if phrase.name not in ENGLISH_ORDERS else ()
    if any(word in _SOMEBODY or (class_of(word) == "ASK" and word != "puis") for word in clause):
        return False
    behind = text[match.end() : match.end() + LOOK_AHEAD]
    if classes[-1:] == ["EARLIER"] and (following := _FOLLOWING.match(behind)):
        words.append(following[1])
        behind = behind[following.end() :]
    is_object = words and (words[-1] == "information" or class_of(words[-1]) in {"EARLIER", "NOTE", "RULE"})
    if is_models_own or not is_object:
        return is_models_own or classes[-1:] != ["EARLIER"]
    scope = _SCOPE.match(behind)
    if scope and not any(class_of(word) in _READER for word in _WORD.findall(scope[1])):
        return False
    return phrase.name not in ENGLISH_ORDERS or all(map(_is_of_an_order, words))


def _is_of_an_order(word: str) -> bool:
    return len(word) < SHORT or word in _PLAIN or class_of(word) in _OF_A_MODEL
