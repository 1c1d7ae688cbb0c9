from tests.served import guide_services

services = guide_services(cors_origins="https://desk.example")


def test_health_tells_status_time_uptime_and_version(client):
    body = client.get("/api/health").json()
    assert set(body) == {"status", "timestamp", "uptime", "version"}
    assert body["status"] == "ok"


def test_a_page_of_an_allowed_origin_may_call_and_no_other(client):
    def allowed(origin: str) -> str | None:
        return client.get("/api/health", headers={"Origin": origin}).headers.get("access-control-allow-origin")

    assert allowed("https://desk.example") == "https://desk.example"
    assert allowed("https://other.example") is None


def test_an_unknown_route_is_a_404_in_the_same_form(client):
    response = client.get("/nowhere")
    assert (response.status_code, set(response.json())) == (404, {"error", "message"})
