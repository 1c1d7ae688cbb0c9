// Makes elements of the page: text is always text, and never becomes markup.
const SVG = "http://www.w3.org/2000/svg";

/** The icons: paths in a box of 24 by 24, drawn as lines. */
const ICONS = {
  again: "M4 12a8 8 0 1 0 2.5-5.8M4 4v4h4",
  close: "M6 6l12 12M18 6L6 18",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  customer: "M4 5h16v11H11l-5 4v-4H4zM8 9h8M8 12h5",
  down: "M7 4v10M7 14l4 7c2 0 3-1 3-3l-1-3h5c1.5 0 2.5-1 2-3l-1.5-6c-.3-1.2-1-2-2.5-2H7M7 4H4v10h3",
  edit: "M4 20l1-4L16 5l3 3L8 19zM14 7l3 3",
  link: "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1",
  list: "M4 6h16M4 12h16M4 18h16",
  mail: "M3 6h18v12H3zM3 7l9 6 9-6",
  markdown: "M3 6h18v12H3zM6 15V9l3 3 3-3v6M17 9v6M15 13l2 2 2-2",
  outside: "M14 4h6v6M20 4l-9 9M18 14v6H4V6h6",
  print: "M7 8V3h10v5M7 17H4V8h16v9h-3M7 14h10v7H7z",
  remove: "M5 7h14M9 7V4h6v3M7 7l1 13h8l1-13",
  speaker: "M4 9h4l5-4v14l-5-4H4zM16 9a4 4 0 0 1 0 6M18.5 6.5a8 8 0 0 1 0 11",
  stop: "M8 3h8l5 5v8l-5 5H8l-5-5V8zM8 12h8",
  up: "M7 20V10M7 10l4-7c2 0 3 1 3 3l-1 3h5c1.5 0 2.5 1 2 3l-1.5 6c-.3 1.2-1 2-2.5 2H7M7 20H4V10h3",
  warning: "M12 4L2.5 20h19zM12 10v5M12 17.5v.5",
};

/** Return a new element.
 * @param {string} tag
 * @param {Record<string, any>} [options] `class`, `text`, `data` (an object), `on` (listeners by event), attributes; null ones are left out
 * @param {...(Node | string | null | undefined | false)} children
 * @returns {HTMLElement} */
export function element(tag, options = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(options)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "text") made.textContent = value;
    else if (name === "class") made.className = value;
    else if (name === "data") Object.assign(made.dataset, value);
    else if (name === "on") for (const [event, listener] of Object.entries(value)) made.addEventListener(event, /** @type {any} */ (listener));
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(.../** @type {(Node | string)[]} */ (children.filter((child) => child || child === "")));
  return made;
}

/** Return an icon; it says nothing to a screen reader.
 * @param {keyof typeof ICONS} name */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  const path = document.createElementNS(SVG, "path");
  for (const [key, value] of Object.entries({ viewBox: "0 0 24 24", "aria-hidden": "true", class: "icon" })) svg.setAttribute(key, value);
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

/** Return a button.
 * @param {string} label What it says, and is called where `options.icon` stands alone
 * @param {() => void} press
 * @param {{icon?: keyof typeof ICONS, alone?: boolean, class?: string, does?: string}} [options] */
export function button(label, press, options = {}) {
  const shown = options.icon ? [icon(options.icon), !options.alone && element("span", { text: label })] : [label];
  const named = options.alone ? { "aria-label": label, title: label } : {};
  const data = options.does ? { do: options.does } : undefined;
  return element("button", { type: "button", class: options.class, data, on: { click: press }, ...named }, ...shown);
}

/** Return the element with an id. @param {string} id @returns {any} */
export const byId = (id) => document.getElementById(id);

/** Put the cursor into the box for the question. It is always in sight, so the page stays where it is scrolled to. */
export const focusBox = () => byId("question").focus({ preventScroll: true });
