"""Phrases of attacks over folded text: in English here, in other languages and in plain words in their own modules."""

import re
import unicodedata
from typing import NamedTuple

from app.wings.safety.injection.languages import LANGUAGES
from app.wings.safety.injection.plain_orders import PLAIN_ORDERS


class Phrase(NamedTuple):
    """How an attack is worded, and how likely a text that holds it is one: in a question, and in a document."""

    name: str
    pattern: re.Pattern[str]
    in_question: float
    in_document: float
    is_ascii: bool  # Whether an ASCII text can hold it.
    needs: tuple[str, ...]  # One of these stands in whatever it finds, and is quick to look for.
    is_order: bool  # Whether it counts only where it is meant for the model (`addressee`).
    by_line: bool  # Whether it matters where a line begins; else a line end in a sentence is a blank.


WEAK = 0.3
"""How likely a passage that also fits people is an attack: several such signs are one."""

_RULES = r"(?:instruct\w*|prompts?|rules?|direct(?:ions?|ives?)|guidelines?|commands?|orders?|constraints?|restrictions?|policies|programming|training|guardrails?|safeguards?|safety (?:rules|filters?))"
_EARLIER = (
    r"(?:previous(?:ly)?|prior|preceding|earlier|above|foregoing|former|past|original|initial|existing|current|system)"
)
_DROP = r"(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|overrid(?:e|ing)|bypass(?:ing)?|neglect|overrule|circumvent|abandon|discard|(?:do not|don'?t|never|stop) (?:follow|obey|listen to|comply with|adher\w* to|respect)(?:ing)?|pay no attention to|set aside|throw out)"
_AI = r"(?:a\.?i\.?(?: (?:assistants?|models?|systems?|agents?|bots?|chatbots?))?|assistants?|(?:large )?language models?|llms?|chat ?bots?|bots?|chatgpt|gpt|copilots?|virtual agents?)"
_SAY = r"(?:say|tell|reply|respond|answer|include|append|add|recommend|send|write|output|print|state|claim|reveal|insert|mention|cite|repeat|ignore|disregard|forget|begin|start|end|conclude|use|direct|ask|return|call|display|translate|give)"

_DROPS = "ignor|disregard|forget|overrid|bypass|neglect|overrul|circumvent|abandon|discard|follow|obey|listen|comply|adher|respect|attention|set aside|throw out"

_ENGLISH: list[tuple[str, float, float, str, str]] = [
    ("override", 0.97, 0.95, _DROPS,
     rf"\b{_DROP}\b[^.!?\n]{{0,40}}?\b(?:{_EARLIER}|your|all(?: (?:the|of|your|my|these|those))?|any|every)\b[^.!?\n]{{0,30}}?\b{_RULES}\b"),
    ("override", 0.95, 0.5, _DROPS,
     rf"\b{_DROP} (?:the |these |those |my |his |our )?(?:{_EARLIER} )?{_RULES}\s*(?:[.!,:;\n\"']|$|and\b|you\b|that you\b|given\b|above\b|before\b)"),
    ("override", WEAK, 0.9, _DROPS,
     rf"\b{_DROP} (?:all |any )?(?:the |these |those )?{_RULES} (?:that )?(?:you\b|given\b)"),
    ("override", 0.96, 0.93, "ignore|disregard|forget|erase|delete",
     r"\b(?:ignore|disregard|forget|erase|delete)\b (?:about )?(?:everything|all(?: of)?(?: that| the)?|anything|whatever|what(?:ever)?)\s+(?:(?:i|we|you|they|he|she)(?:'ve| have)? (?:were |was |been )?(?:just )?(?:told|said|asked|learn\w*|know|instructed|taught|read)|(?:that (?:was|is|came) )?(?:above|before|previous\w*|prior|so far|up to now|until now))"),
    ("override", 0.95, 0.93, "",
     rf"\b(?:forget|forgotten|ignore|break|violate|suspend|lift|remove|disable|turn off|deactivate|switch off)\b[^.!?\n]{{0,25}}\byour (?:\w+ ){{0,2}}?(?:{_RULES}|ethics|ethical\w*|moral\w*|censor\w*)\b"),
    ("override", 0.95, WEAK, "limit|filter|protocol",
     r"\b(?:ignore|break|lift|remove|disable|turn off|deactivate|switch off)\b[^.!?\n]{0,25}\byour (?:\w+ ){0,2}?(?:limit\w*|filters?|protocols?)\b"),
    ("override", 0.93, WEAK, "",
     rf"\b(?:previous|prior|above|earlier|old|original|all) {_RULES} (?:above )?(?:are|is|were|have been|no longer|do not|don'?t)\b[^.!?\n]{{0,30}}(?:void|cancel\w*|overrid\w*|replaced|revoked|lifted|obsolete|invalid|apply|superseded|null)"),
    ("override", 0.92, 0.85, "listen|follow|trust",
     r"\b(?:do not|don'?t) (?:listen to|follow|trust) (?:any|the|all)[^.!?\n]{0,20}(?:previous|prior|earlier|above)\b"),
    ("new rules", 0.8, WEAK, "",
     r"(?:^|[.!?\n*#>\"'(-]\s*)(?:here (?:are|is) (?:your |the )?)?(?:new|updated|real|actual|revised|secret|additional|override) (?:system )?(?:instructions?|task|rules?|prompts?|directives?|orders?)\s*(?:for you|are|is)?\s*:"),
    ("new rules", WEAK, 0.85, "",
     r"(?:^|[.!?\n*#>\"'(-]\s*)(?:here (?:are|is) your (?:new|real|actual) |(?:secret|override|(?:new|updated|real) system) )(?:instructions?|task|rules?|prompts?|directives?|orders?)\s*(?:for you|are|is)?\s*:"),
    ("role", 0.9, WEAK, "",
     r"(?:^|\n)\s*[\"'{\[<*#>-]*\s*(?:system|developer|assistant)(?: (?:message|prompt|override|note|instruction|update))?[\]\"'>*}]*\s*:(?![/:])"),
    ("role", WEAK, 0.85, "system|developer|assistant",
     r"(?:^|\n)\s*[\"'{\[<*#>-]*\s*(?:system|developer|assistant) (?:message|prompt|override|instruction)[\]\"'>*}]*\s*:"),
    ("role", 0.93, 0.9, "[|<|###|%%%|end of",
     r"\[/?inst\]|\[/?(?:system|admin|developer)\](?![(\[:])|<</?sys>>|<\|?/?(?:im_start|im_end|system|assistant|endoftext|eot_id|start_header_id|begin_of_text)\|?>|###\s*(?:system|(?:new )?instruction|human|assistant)\s*:|%%%\s*end\b|\bend of (?:the )?(?:system prompt|user (?:input|query))\b"),
    ("role", 0.93, WEAK, "[|<|###|end of",
     r"</?(?:context|instructions?|system_prompt|documents?)>|###\s*(?:system|(?:new )?instructions?|human|assistant)\b|\[/?instructions?\]|\bend of (?:the )?(?:prompt|context)\b"),
    ("reveal", 0.94, WEAK, "prompt|instruction|rules|directives|guidelines|configuration|programming|secret|message",
     r"\b(?:reveal|show|print|repeat|output|display|tell|give|write|recite|leak|share|expose|disclose|list|dump|echo|copy|quote|translate|summari[sz]e|spell|encode|return|provide|what(?:'s| is| are| was| were))\b[^.!?\n]{0,50}?\b(?:your (?:\w+ ){0,2}?(?:prompt|instructions?|rules|directives|guidelines|configuration|programming|secret)|system (?:prompt|message|instructions?)|(?:above|previous|prior|initial|hidden|original|secret|preceding|confidential|full|entire|first) (?:\w+ )?(?:instructions?|prompts?|messages?|rules|directives)|instructions? (?:above|given|you|so far|in bytes)|prompt (?:above|you))\b"),
    ("secret", 0.92, WEAK, "",
     r"\b(?:secret|pass)\s?(?:word|phrase|key|code)\b[^.!?\n]{0,60}\b(?:you (?:know|were|have been|are not)\b|your (?:developers?|creators?)|told not to)|\b(?:you (?:were|are|have been) (?:told|instructed|asked)|(?:told|instructed|asked) you) not to (?:reveal|tell|say|share|disclose)\b|\bwhat you (?:cannot|can't|may not|are not allowed to) (?:give|say|tell|reveal|share)"),
    ("recite", 0.92, 0.85, "repeat",
     r"\brepeat (?:everything|all|the words|the text|back)\b[^.!?\n]{0,25}\b(?:(?:above|before)\b(?! (?!this\b|that\b|and\b|in\b|as\b|it\b|me\b|starting\b|verbatim\b)\w)|so far|verbatim|word for word|starting with)"),
    ("persona", 0.75, WEAK, "",
     r"(?:^|[.!?\n\"'(,]\s*)(?:from now on,? |and )?you(?:'re| are|r) (?:now |being turned )(?!\w+ing\b)(?!able\b|available\b)"),
    ("persona", 0.9, WEAK, "",
     r"\b(?:act|behave|respond|reply|talk|answer) (?:as if|as though|like|as) you(?:'re| are| were| have| had)\b|\bpretend (?:that you|to be|you are|you're|you have|to have)\b"),
    ("persona", 0.9, WEAK, "from now|from this|be called|be known as",
     r"\bfrom (?:now|this (?:moment|point)) on\b[^.!?\n]{0,40}\b(?:you|your|act|reply|respond|answer)\b|\byou (?:will|shall|must) be (?:called (?!on\b|up\b|in\b|back\b|for\b|by\b|to\b|when\b|if\b)|known as)\b"),
    ("persona", 0.93, 0.85, "",
     r"\bdo anything now\b|(?<!if )(?<!when )(?<!once )(?<!while )\byou are (?:now )?in (?:debug|developer|admin(?:istrator)?|maintenance|sudo) mode\b|\b(?:a\.?i|chatbot|bot|language model)\b[^.!?\n]{0,30}\bwithout (?:any )?(?:restrictions?|limitations?|limits|filters?|censorship|ethics|morals)\b|\bnot (?:limited|bound|restricted) by your (?:guidelines|programming|restrictions|rules)\b|\bdan can do anything\b|\bfrom (?:now|this moment) on\b[^.!?\n]{0,60}\b(?:reply|answer|respond|act|speak|talk|behave)\b[^.!?\n]{0,8} (?:as|like) (?:if\b|an? )|\b(?:dan|god|jailbreak|jailbroken|unrestricted|unfiltered|evil|apophis) mode\b|\bjailbroken\b"),
    ("persona", 0.93, WEAK, " dan| mode|stay in character",
     r"\b(?:called|named|are|as|is|agent|special) dan\b|\b(?:developer|debug|sudo|admin(?:istrator)?|opposite|maintenance) mode\b|\bstay in character\b"),
    ("persona", 0.88, WEAK, "",
     r"\b(?:ai|assistant|chatbot|model|bot|gpt|answer|respond|reply|you)\b[^.!?\n]{0,60}\b(?:without|no|free of|freed? from|not bound by|not limited by|bypass\w*)\b[^.!?\n]{0,20}\b(?:restrictions?|limitations?|limits|filters?|censorship|ethic\w*|moral\w*|guidelines|rules|policies|boundaries)\b"),
    ("persona", 0.9, WEAK, "",
     r"\byou (?:must|will|shall|should|have to|are to) (?:obey|follow) (?:all|every|any|my|each)\b|\bnever (?:refuse|decline|say no|break character)\b|\byou (?:cannot|can't|can not|must not|will not|never) refuse\b|\ball orders (?:are|being) allowed\b"),
    ("to the model", 0.8, WEAK, "",
     rf"\b(?:note|message|instructions?|attention|notice|memo|hint|directive|important|info\w*)\b[^.!?\n]{{0,30}}\b(?:to|for)\b (?:the |any |all |every |an? |our |your )?{_AI}\b(?!\w)"),
    ("to the model", 0.7, WEAK, "",
     rf"\b{_AI}(?: (?:that|who|which)\b[^.!?\n]{{0,50}})?\s*[,:;-]*\s*(?:you )?(?:must|should|shall|has to|have to|needs? to|are to|is to|please|will|always|never|are (?:required|instructed|obliged) to)\b[^.!?\n]{{0,40}}?\b{_SAY}\b"),
    ("to the model", 0.75, WEAK, "",
     rf"\b(?:if|when|since|as) you(?:'re| are) (?:an? |the |this )?(?:\w+ )?{_AI}\b|\b(?:dear|hey|attention|hello|ok|listen|attn),? (?:\w+ )?{_AI}\b[,:!]"),
    ("to the model", 0.45, WEAK, "",
     r"\b(?:when(?:ever)?|if|before|while)\b[^.!?\n]{0,25}\b(?:asked|answering|summari[sz]ing|responding|you (?:answer|reply|respond|summari[sz]e|read|process|see)|(?:the |a |any )?(?:user|reader|customer|someone|anyone|person|agent)s? asks?)\b[^.!?\n]{0,90}?[,:]?\s*\b(?:you (?:must|should|shall|will)|always|only|instead|also|please|never|simply|just|reply|respond|answer|say|tell|write|output|state|append|include|recommend)\b"),
    ("reply", 0.75, WEAK, "",
     r"\b(?:begin|start|end|finish|close|conclude|prefix|preface|sign off) (?:your|the|every|each|all|any) (?:\w+ )?(?:answers?|repl(?:y|ies)|responses?|outputs?|summar(?:y|ies)|messages?)\b[^.!?\n]{0,12}\b(?:with|by)\b"),
    ("reply", 0.72, WEAK, "",
     r"\b(?:include|append|add|insert|put|mention|place|embed|attach|write|incorporate|integrate)\b[^.!?\n]{0,80}?\b(?:in|to|into|at the (?:end|start|beginning|top|bottom) of|within)\b (?:your|every|each|all|any) (?:of your )?(?:\w+ )?(?:answers?|repl(?:y|ies)|responses?|outputs?|summar(?:y|ies)|elucidation|solution)\b"),
    ("reply", 0.8, WEAK, "",
     r"\b(?:do not|don'?t|never) (?:mention|reveal|tell|disclose|say|show|inform)\b[^.!?\n]{0,30}\b(?:this (?:instruction|message|note|text|prompt)|these (?:instructions|rules|words)|(?:to )?the (?:user|reader|customer|human)|anyone)\b"),
    ("reply", 0.6, WEAK, "",
     r"(?:^|[.!?\n]\s*)(?:please |now |also |then |in addition,? |(?:can|could|would) you )?(?:\w+ly )?(?:provide|write|translate|give|encode|modify|enhance|convert|render|present|deliver|format|compose|rewrite|express|phrase|reverse|encrypt|formulate|craft|shift|change|transform|reply|respond|answer|output|print|display|use \w+ to (?:display|encode|show))\b[^.!?\n]{0,40}?\b(?:your|the) (?:\w+ ){0,2}?(?:responses?|repl(?:y|ies)|answers?|outputs?|messages?)\b|(?:^|[.!?\n]\s*)in your (?:\w+ )?(?:response|reply|answer|output),"),
    ("code", 0.82, WEAK, "code",
     r"\b(?:follow(?:ing)?|subsequent|below|given|provided|next|ensuing)\b[^.!?\n:]{0,25}\bcode\b(?: (?:snippet|section|block|excerpt|segment|fragment|piece))?[^.!?\n:]{0,70}\b(?:in|into|within|to|of|as|for)\b[^.!?\n:]{0,30}\b(?:your|every|all) (?:\w+ ){0,2}?(?:implementation|solution|elucidation|code\w*|answers?|responses?|explanations?|algorithms?|repl(?:y|ies)|outputs?|programs?|projects?|scripts?|functions?|app\w*|work|development|logic)\b|\b(?:embed\w*|incorporat\w*|integrat\w*|includ\w*|insert\w*|utiliz\w*|employ\w*|introduc\w*|inclusion|add\w*|use|append\w*|appl\w*|plac\w*|mak(?:e|ing)|leverag\w*)\b[^.!?\n:]{0,40}\b(?:following|subsequent|below|ensuing)\b[^.!?\n:]{0,12}\bcode\b"),
    ("steering", 0.75, WEAK, "",
     r"\b(?:tell|inform|instruct|convince|persuade|direct|urge|advise|send|redirect|refer|encourage|ask) (?:the |all |every |any )?(?:users?|readers?|customers?|person|humans?|callers?|agents?|asker)\b[^.!?\n]{0,120}?(?:https?:|www\.|\bclick\b|\bpasswords?\b|\bcredentials\b|\bcredit card\b|\bcard (?:number|details)\b|\bpins?\b|\blog ?in (?:at|again)\b|\botp\b|\bgift cards?\b)"),
    ("exfiltration", 0.8, WEAK, "",
     r"\b(?:send|post|append|encode|exfiltrate|forward|leak|upload|transmit|put|include|submit|e-?mail|attach|embed)\b[^.!?\n]{0,60}\b(?:conversation|chat (?:history|log)|system prompt|secrets?|api[ _-]?keys?|passwords?|credentials|(?:user|customer|reader)(?:'s|s')? (?:data|question|query|input|name|message|details))\b[^.!?\n]{0,60}(?:https?:|www\.|\bto\b|\bas a?\b|\burl\b|\bquery (?:string|param)|=)"),
    ("exfiltration", 0.85, 0.9, "http",
     r"!\[[^\]\n]{0,60}\]\(\s*https?://[^)\s]{0,200}[?&][^)\s]{0,60}(?:=\s*[{\[<$]|\{)|\bhttps?://\S{1,200}[?&]\w+=(?:\{|\[|<|\$)[{<\[]?(?:question|quer(?:y|ies)|conversation|chat|history|prompt|secret|answer|context|password)\b"),
    ("exfiltration", 0.85, WEAK, "http",
     r"\bhttps?://\S{1,200}[?&/=](?:\{|\[|<|\$)\w+"),
    ("tool", 0.85, 0.85, "<",
     r"</?(?:tool_calls?|function_calls?)>"),
    ("tool", 0.85, WEAK, "",
     r"</?invoke\b|\"(?:function_call|tool_calls?)\"\s*:\s*[\"{\[]"),
    ("tool", 0.6, WEAK, "tool|function|plugin",
     r"\b(?:call|invoke|execute|trigger|use|run) the (?:\w+ ){0,2}?(?:tool|function|plugin)\b[^.!?\n]{0,60}\b(?:with|to|and)\b"),
]  # fmt: skip


ENGLISH_ORDERS = {"override", "reveal", "persona"}
_ORDERS = {*ENGLISH_ORDERS, *(name for name, *_ in [*LANGUAGES, *PLAIN_ORDERS] if name != "answer all with")}
_BY_LINE = {"role", "new rules"}
_OTHER_SCRIPTS = {"zh", "ja ko", "ar hi th"}


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", re.sub("[\u0300-\u036f]", "", unicodedata.normalize("NFKD", text)))


PHRASES = tuple(
    Phrase(
        name,
        re.compile(_plain(text)),
        question,
        document,
        name not in _OTHER_SCRIPTS,
        tuple(_plain(needs).split("|")) if needs else (),
        name in _ORDERS,
        name in _BY_LINE,
    )
    for name, question, document, needs, text in [*_ENGLISH, *LANGUAGES, *PLAIN_ORDERS]
)
