// The only store of the page: one plain object, changed by patches; listeners hear which names have changed.

/** @type {Record<string, any>} */
export const state = { view: "ask", me: null };

/** @type {Set<(state: Record<string, any>, changed: Set<string>) => void>} */
const listeners = new Set();

/** Change the state and tell every listener, if anything is different.
 * @param {Record<string, any>} patch */
export function change(patch) {
  const changed = new Set(Object.keys(patch).filter((name) => state[name] !== patch[name]));
  if (!changed.size) return;
  Object.assign(state, patch);
  for (const listener of listeners) listener(state, changed);
}

/** Call `listener(state, changed)` after each change; the returned function ends that.
 * @param {(state: Record<string, any>, changed: Set<string>) => void} listener */
export function subscribe(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
