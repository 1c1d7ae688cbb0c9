import json

from werkzeug import Request, Response

from benchmarks.load import QUERY, STREAM, Measured, Sample, aims, ask_all, row, whole

FAST = [Sample(whole=510 + n, handler=505 + n) for n in range(20)]
STREAMED = [Sample(whole=900, first_event=30 + n, first_words=502) for n in range(20)]


def query(users: int, samples: list[Sample] = FAST, seconds: float = 2) -> Measured:
    return Measured(QUERY, users, seconds, samples, used=0.2)


def test_a_row_tells_answers_errors_times_and_the_processor():
    load = query(16, [*FAST, Sample(whole=3, error="503")])

    assert row(load) == ["`/api/query`", "16", "10.0", "1", "520 ms / 528 ms", "14 ms / 23 ms", "10.0 ms"]


def verdicts(*loads: Measured) -> list[str]:
    return [line.split(" | ")[-1].rstrip(" |") for line in aims(loads).splitlines()[2:]]


def test_what_was_aimed_at_is_held_against_what_was_found():
    stream = Measured(STREAM, 16, 2, STREAMED)
    slow = [Sample(whole=950, handler=600)]

    assert verdicts(query(16), query(50), query(200), stream) == ["held"] * 6
    missed = verdicts(query(16, slow), query(50, [*slow, Sample(1, error="500")]), query(200, slow, 9), stream)
    assert missed == ["missed", "missed", "missed", "held", "missed", "held"]


async def test_users_ask_no_question_twice_and_are_told_of_errors(httpserver):
    asked: list[str] = []

    def answer(request: Request) -> Response:
        asked.append(json.loads(request.data)["query"])
        outcome = "degraded" if len(asked) % 2 else "answered"
        return Response(json.dumps({"outcome": outcome, "metadata": {"latencyMs": 7}}), mimetype="application/json")

    httpserver.expect_request("/api/query").respond_with_handler(answer)
    samples = await ask_all(httpserver.url_for(""), ["Why?", "How?"], whole, users=2, warm_s=0, seconds=0.5)

    assert len(set(asked)) == len(asked) >= len(samples)
    assert {(sample.error, sample.handler) for sample in samples} <= {("degraded", None), ("", 7)}


async def test_an_error_counts_before_the_load_has_begun_as_well(httpserver):
    httpserver.expect_request("/api/query").respond_with_data("no", status=503)
    samples = await ask_all(httpserver.url_for(""), ["Why?"], whole, users=1, warm_s=1, seconds=0.0)

    assert {sample.error for sample in samples} == {"503"}
