"""Settings of earlier versions that are no longer read, and what to do about each. They are named at start."""

_GONE = {
    "OPENROUTER_REFERER": 'use LLM_OPTIONS={"default_headers": {"HTTP-Referer": "https://..."}}',
    "CHAT_TEMPERATURE": "a constant now, 0.4; LLM_TEMPERATURE sets that of the other routes",
    "LLM_REASONING_FORMAT LLM_REASONING_EFFORT LLM_SERVICE_TIER": "put it into LLM_OPTIONS, as JSON",
    "LLM_QUEUE_TIMEOUT_S": "a constant now, 20 seconds; LLM_RPM and LLM_TPM say what the provider allows",
    "LLM_BREAKER_FAILURES": "a constant now, 5 failures",
    "LLM_BREAKER_RESET_S": "a constant now, 60 seconds",
    "EMBEDDING_DEVICE": "torch takes a GPU where there is one; CUDA_VISIBLE_DEVICES= hides it",
    "EMBEDDING_QUERY_PREFIX EMBEDDING_PASSAGE_PREFIX": "use EMBEDDING_PREFIXES",
    "EMBEDDING_INPUT_TYPE": "use EMBEDDING_PREFIXES=input_type",
    (
        "EMBEDDING_TIMEOUT_S VECTOR_STORE_TIMEOUT_S RETRIEVAL_TIMEOUT_S RERANKER_TIMEOUT_S MODERATION_TIMEOUT_S "
        "SOURCE_TIMEOUT_S"
    ): "a constant now; the service that is asked has to answer in time",
    "EMBEDDING_MAX_RETRIES RETRIEVAL_MAX_RETRIES": "a constant now, 3",
    "RETRIEVAL_AUDIENCE": "passages of a service that state no audience are internal; the service has to state it",
    "COMPRESSION_BASE": "compression shortens what hybrid finds",
    "RERANKER_CANDIDATES": "a constant now, 30",
    "CHAT_PASSAGE_CHARACTERS": "a constant now, 1700; MAX_CONTEXT_TOKENS limits the whole",
    "MAX_HISTORY_TOKENS": "a constant now, 1000",
    "QUERY_REFORMULATION_TIMEOUT_S": "a constant now, 3 seconds; 30 with ollama and llama-cpp",
    "CITATION_REPAIR WARM_UP": "always on",
    "SCOPE_ENABLED": "use SCOPE_FILE=off",
    "RERANKER_BASE_URL": "put the address into RERANKER, in place of the word service",
    "ANONYMOUS_AUDIENCE": "with ALLOW_ANONYMOUS=true callers without a key see public documents, else all",
    "RATE_LIMIT_BACKEND": "in Redis where REDIS_URL is set, else in each process",
    "MODERATION_IGNORED": "a constant now, its former default",
    "REDIS_TIMEOUT_S SESSION_BACKEND EVENTS_BACKEND EVENTS_PATH ANSWER_LOG_PATH": (
        "in the ledger now, in CHROMA_PATH or at DATABASE_URL; `waypoint upgrade` brings over what is there"
    ),
    "SESSIONS_MAX": "a constant now, 10000; SESSION_TTL limits their age",
    "INGEST_FILE_TIMEOUT_S INGEST_FILE_MEMORY_MB PAGE_TIMEOUT_S PAGE_MEMORY_MB": (
        "a constant now; split a file that takes longer"
    ),
    "INGEST_OCR": "use INGEST_OCR_LANGUAGES=off",
    "UPLOADS_PATH": "uploads are beside the index, in CHROMA_PATH/../uploads; move them there",
    "UPLOAD_MAX_FILES": "a constant now, 20; send more uploads",
    "UPLOAD_MAX_WAITING": "a constant now, 20",
    "SOURCES_PATH": "copies are beside the index, in CHROMA_PATH/../sources; move them there, or ingest again",
    "SOURCE_MAX_MB": "a constant now, 50; put larger files into a folder",
    "WEB_MAX_DEPTH": "a constant now, 5",
    "WEB_MAX_PAGES": "a constant now, 500; name parts of a larger site as addresses of their own",
    "WEB_DELAY_S": "a constant now, 0.5 seconds; a site's own crawl delay takes precedence",
    "BATCH_MAX": "a constant now, 10",
    "QUESTION_QUEUE_S BODY_TIMEOUT_S": "a constant now, 10 seconds",
    "MAX_CONCURRENT_QUESTIONS": "a constant now, 100 for each process; RATE_LIMIT limits each caller",
    "REQUEST_TIMEOUT_S": "30 seconds more than LLM_TIMEOUT_S",
    "DRAIN_TIMEOUT_S": "a constant now, 30 seconds",
    "EXAMPLES_FILE TEAMS_FILE PAGE_NAME PAGE_GREETING PAGE_LOGO": "put it into the folder of PAGE_PATH (docs/page.md)",
    "FEEDBACK_PATH FEEDBACK_MAX_MB": "feedback is in the log of answers",
    "ANSWER_LOG_MAX_MB": "a constant now, 200; ANSWER_LOG_DAYS limits their age",
    "DATABASE_POOL_SIZE": "a constant now, 10 for each process",
    "EVENTS_MAX": "a constant now, 10000",
    "LINT_MAX_AGE_DAYS": "use `waypoint lint --max-age-days`",
}
GONE = {name: advice for names, advice in _GONE.items() for name in names.split()}


def gone_table() -> str:
    """Return a Markdown table of what is no longer read, and what to do."""
    rows = sorted((sorted(names.split()), advice) for names, advice in _GONE.items())
    lines = [f"| {', '.join(f'`{name}`' for name in names)} | {advice} |" for names, advice in rows]
    return "\n".join(["| setting | what to do |", "|---|---|", *lines, ""])
