// The keys of the reader, and the filter of a list that has no server. Nothing is sent anywhere.
"use strict";
document.documentElement.classList.add("script");

const entries = () => [...document.querySelectorAll(".turn, tr.entry")].filter((one) => !one.hidden);
let chosen = null;

// What an entry is known by when a list that refreshes itself holds it anew.
const mark = (one) => one.id || (one.querySelector("a") || one).href;

function choose(step) {
  const all = entries();
  if (!all.length) return;
  const linked = location.hash ? document.getElementById(location.hash.slice(1)) : null;
  let known = chosen;
  if (chosen && !chosen.isConnected) known = all.find((one) => mark(chosen) && mark(one) === mark(chosen));
  const at = all.indexOf(known || linked);
  const next = all[Math.min(all.length - 1, Math.max(0, at + step))];
  if (chosen) chosen.classList.remove("chosen");
  chosen = next;
  chosen.classList.add("chosen");
  if (chosen.matches(".turn")) {
    chosen.focus({ preventScroll: true });
    history.replaceState(null, "", chosen.id ? "#" + chosen.id : location.href);
  } else {
    const link = chosen.querySelector("a");
    if (link) link.focus({ preventScroll: true });
  }
  chosen.scrollIntoView({ block: "nearest" });
}

function write() {
  const turn = chosen && chosen.isConnected ? chosen : document.querySelector(".turn:target");
  const box = (turn && turn.querySelector(".write")) || document.querySelector("#notes ~ .write, .aside .write");
  if (!box) return;
  box.open = true;
  box.querySelector("textarea").focus();
}

function search() {
  const field = document.getElementById("q") || document.getElementById("narrow");
  if (field) {
    field.focus();
    field.select();
    return;
  }
  const runs = document.querySelector('.crumbs a[href$="runs.html"]');
  if (runs) location.href = runs.href + "#q";
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.target.closest("input, textarea, select, dialog")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const keys = { j: () => choose(1), k: () => choose(-1), n: write, "/": search, "?": () => document.getElementById("keys").showModal() };
  const act = keys[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

const narrow = document.getElementById("narrow");
if (narrow) {
  narrow.addEventListener("input", () => {
    const wanted = narrow.value.toLowerCase();
    for (const row of document.querySelectorAll("#list tr.entry")) row.hidden = !row.textContent.toLowerCase().includes(wanted);
  });
}
if (location.hash === "#q") search();
