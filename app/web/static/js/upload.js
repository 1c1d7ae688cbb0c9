// Adds documents: by drag and drop or the system's dialog, with progress, and what became of each file.
import { address, request } from "./api.js";
import { byId, button, element } from "./elements.js";
import { categoryName } from "./viewer.js";
import { t } from "./words.js";

const JOB = "waypoint-upload"; // In the session's storage: an upload is followed again after a reload.
const MEGABYTE = 2 ** 20;
const AGAIN_MS = 2000;

/** @type {any} */
let limits = null;
let busy = false;

/** Show where files are added, if the visitor may. @param {any} found The answer of /api/documents */
export function showUpload(found) {
  const place = byId("upload");
  limits = found.upload;
  if (!limits) return place.replaceChildren();
  if (!place.firstChild) place.append(...frame());
  byId("upload-samples").textContent = found.samples ? t("upload.samples", { count: found.samples }) : "";
  const job = sessionStorage.getItem(JOB);
  if (job && !busy) follow(job, []);
}

function frame() {
  const input = /** @type {HTMLInputElement} */ (element("input", { type: "file", id: "upload-files", multiple: true, accept: limits.endings.join(","), hidden: true }));
  input.addEventListener("change", () => { add([...(input.files ?? [])]); input.value = ""; });
  const option = (/** @type {string} */ value) => element("option", { value, text: value ? categoryName(value) : t("upload.no-category") });
  const categories = ["", ...limits.categories.filter((/** @type {string} */ name) => name !== "internal")]; // The audience says that.
  const audience = (/** @type {string} */ value) => element("option", { value, text: t(`upload.${value}`) });
  const place = /** @type {HTMLElement} */ (byId("documents"));
  const seen = element("p", { id: "upload-seen", role: "status" });
  const chosen = /** @type {HTMLSelectElement} */ (element("select", { id: "upload-audience" }, ...limits.audiences.map(audience)));
  chosen.addEventListener("change", () => { seen.textContent = t(`upload.seen-${chosen.value}`); });
  seen.textContent = t(`upload.seen-${chosen.value}`);
  const zone = element("div", { id: "drop" }, element("p", { text: t("upload.drop") }),
    button(t("upload.choose"), () => input.click(), { does: "choose" }), input,
    element("label", {}, t("upload.audience"), chosen),
    element("label", {}, t("upload.category"), element("select", { id: "upload-category" }, ...categories.map(option))),
    seen, element("p", { class: "facts", text: t("upload.limits", { endings: limits.endings.join(" "), mb: limits.max_mb, files: limits.max_files }) }));
  // A file that misses the list must not take the place of the page.
  for (const name of ["dragover", "drop"]) document.addEventListener(name, (event) => event.preventDefault());
  // One listener each, however often the zone is made.
  place.ondragover = () => { zone.dataset.over = ""; };
  place.ondragleave = () => { delete zone.dataset.over; };
  place.ondrop = (event) => { delete zone.dataset.over; add([...(event.dataTransfer?.files ?? [])]); };
  return [zone, element("div", { id: "upload-status", role: "status" }), element("p", { id: "upload-samples", class: "facts" })];
}

/** @param {File[]} files @param {boolean} [replace] */
async function add(files, replace = false) {
  if (busy || !files.length) return;
  const known = files.flatMap(refused), sent = files.filter((file) => !refused(file).length);
  if (sent.length > limits.max_files || sent.reduce((sum, file) => sum + file.size, 0) > limits.max_mb * MEGABYTE) {
    return tell(element("p", { role: "alert", text: t("upload.too-much", { mb: limits.max_mb, files: limits.max_files }) }));
  }
  if (!sent.length) return tell(problems(known));
  const form = new FormData();
  form.set("category", byId("upload-category").value);
  form.set("audience", byId("upload-audience").value);
  form.set("replace", String(replace || ""));
  for (const file of sent) form.append("files", file);
  work(true, t("upload.waiting"));
  try {
    const { job_id } = await request("api/documents", { method: "POST", body: form });
    sessionStorage.setItem(JOB, job_id);
    follow(job_id, known);
  } catch (error) {
    work(false);
    tell(element("div", { class: "failure", role: "alert" }, element("p", { text: error.message }), ...(error.status === 409 ? [
      button(t("upload.replace"), () => add(files, true), { does: "replace", class: "danger" }), button(t("dialog.cancel"), () => tell(), { does: "keep" })] : [])), problems(known));
    if (error.status === 401) document.dispatchEvent(new CustomEvent("sign-in-needed"));
  }
}

/** Why a file need not be sent: the service would refuse all for it. @param {File} file */
function refused({ name: path, size }) {
  if (size > limits.max_mb * MEGABYTE) return [{ path, reason: t("upload.too-large", { mb: limits.max_mb }) }];
  return limits.endings.includes(path.slice(path.lastIndexOf(".")).toLowerCase()) ? [] : [{ path, reason: t("upload.unreadable") }];
}

/** Follow a job to its end. @param {string} job @param {{path: string, reason: string}[]} known What was not sent */
function follow(job, known) {
  const events = new EventSource(address(`api/jobs/${job}/events`));
  const { text, bar } = work(true, t("upload.waiting"));
  const over = (/** @type {any[]} */ ...parts) => {
    events.close();
    sessionStorage.removeItem(JOB);
    work(false);
    tell(...parts);
    document.dispatchEvent(new CustomEvent("documents-changed"));
  };
  events.addEventListener("progress", (event) => {
    const progress = JSON.parse(event.data);
    if (progress.state === "running") Object.assign(bar, { max: progress.total, value: progress.done });
    text.textContent = progress.message ? t("upload.busy") : t("upload.adding", progress);
  });
  events.addEventListener("end", (event) => {
    const { state, message, report } = JSON.parse(event.data);
    if (state === "failed") return over(element("p", { role: "alert", text: message }), problems(known));
    over(element("p", { text: t("upload.done", { count: report.files, chunks: report.chunks }) }),
      report.files && element("p", { text: t(`upload.seen-${report.audience}`) }),
      report.replaced.length && element("p", { text: t("upload.replaced", { names: report.replaced.join(", ") }) }),
      problems([...known, ...report.problems]), problems(report.warnings, "upload.warnings"));
  });
  // The browser opens a broken connection again. One that was refused stays closed: the service restarts, or the job is gone.
  const again = () => setTimeout(async () => {
    try {
      await request(`api/jobs/${job}`);
      follow(job, known);
    } catch (error) {
      if (error.status === 0 || error.status === 503) again();
      else over(element("p", { role: "alert", text: t("upload.lost") }));
    }
  }, AGAIN_MS);
  events.addEventListener("error", () => events.readyState === EventSource.CLOSED && again());
}

/** @param {{path: string, reason: string}[]} list @param {string} [title] */
function problems(list, title = "upload.problems") {
  return list.length && element("div", { class: "problems" }, element("p", { text: t(title) }),
    element("ul", {}, ...list.map(({ path, reason }) => element("li", {}, element("strong", { text: path }), `: ${reason}`))));
}

/** One upload at a time. @param {boolean} on @param {string} [words] */
function work(on, words = "") {
  busy = on;
  byId("drop").toggleAttribute("inert", on);
  const text = element("p", { text: words }), bar = element("progress", { "aria-label": t("upload.progress") });
  tell(text, bar);
  return { text, bar };
}

/** @param {any[]} parts */
function tell(...parts) {
  byId("upload-status").replaceChildren(...parts.filter(Boolean));
}
