// Theme, keys, following: everything else is HTML from the server, and works without this file.
"use strict";
const root = document.documentElement;
const remembered = () => { try { return localStorage.getItem("theme"); } catch { return null; } };
if (remembered()) root.dataset.theme = remembered();

const all = (selector) => [...document.querySelectorAll(selector)];
const one = (selector) => document.querySelector(selector);
const marked = new Set();
let chosen = null;

function isDark() {
  return root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function turnTheme() {
  root.dataset.theme = isDark() ? "light" : "dark";
  try { localStorage.setItem("theme", root.dataset.theme); } catch { /* private windows remember nothing */ }
}

// -- moving through lists ------------------------------------------------------------------------------------------
const items = () => all("[data-item]");

function choose(item) {
  for (const other of items()) other.classList.toggle("sel", other === item);
  chosen = item ? item.dataset.item : null;
  if (item) {
    item.scrollIntoView({ block: "nearest" });
    (item.matches("a, button") ? item : item.querySelector("a, button"))?.focus({ preventScroll: true });
  }
}

function move(by) {
  const found = items();
  const at = found.findIndex((item) => item.dataset.item === chosen);
  const next = at < 0 ? (by > 0 ? 0 : found.length - 1) : Math.min(Math.max(at + by, 0), found.length - 1);
  if (found[next]) choose(found[next]);
}

function open() {
  const item = items().find((each) => each.dataset.item === chosen);
  (item?.matches("a") ? item : item?.querySelector("a"))?.click();
}

function mark() {
  if (!chosen) return;
  if (!marked.delete(chosen)) marked.add(chosen);
  showMarks();
}

function showMarks() {
  for (const box of all("input[data-mark]")) box.checked = marked.has(box.dataset.mark);
}

function compare() {
  const [left, right] = [...marked].slice(-2);
  if (right) location.href = `/compare?a=${encodeURIComponent(left)}&b=${encodeURIComponent(right)}`;
}

// -- answering -----------------------------------------------------------------------------------------------------
function press(answer) {
  const cards = all("[data-approval]");
  const card = cards.find((each) => each.dataset.item === chosen) || cards[0];
  card?.querySelector(`button[value="${answer}"]`)?.click();
}

// -- keys ----------------------------------------------------------------------------------------------------------
const keys = {
  j: () => move(1), k: () => move(-1), ArrowDown: null, x: mark, c: compare,
  a: () => press("yes"), d: () => press("no"), t: turnTheme, "?": () => one("#keys")?.showModal(),
  "/": () => one("input[type=search]")?.focus(), n: () => one("#message")?.focus(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.matches("input, textarea, select");
  if (event.target.id === "message" && event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    event.target.form.requestSubmit();
  } else if (typing) {
    if (event.key === "Escape") event.target.blur();
  } else if (event.key === "Enter" && chosen && event.target === document.body) {
    open();
  } else if (keys[event.key]) {
    event.preventDefault();
    keys[event.key]();
  }
});

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-do=theme]")) turnTheme();
  if (event.target.closest("[data-do=keys]")) one("#keys")?.showModal();
  if (event.target.closest("[data-do=close]")) event.target.closest("dialog").close();
});

document.addEventListener("change", (event) => {
  const box = event.target;
  if (box.matches("input[data-mark]")) box.checked ? marked.add(box.dataset.mark) : marked.delete(box.dataset.mark);
  if (box.matches("select[data-submit]")) box.form.requestSubmit();
});

// -- following -----------------------------------------------------------------------------------------------------
let follows = true;
addEventListener("scroll", () => {
  follows = innerHeight + scrollY > document.body.scrollHeight - 120;
}, { passive: true });

document.addEventListener("htmx:after:swap", () => {
  const item = chosen && items().find((each) => each.dataset.item === chosen);
  if (item) item.classList.add("sel");
  showMarks();
  if (follows && one(".talk")) scrollTo({ top: document.body.scrollHeight });
});

document.addEventListener("DOMContentLoaded", () => {
  if (one(".talk")) scrollTo({ top: document.body.scrollHeight });
  document.addEventListener("submit", (event) => {
    const message = event.target.querySelector?.("#message");
    if (message) setTimeout(() => { message.value = ""; message.focus(); }, 0);
  });
});
