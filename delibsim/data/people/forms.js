"use strict";
// Drafts, counters and ranking. Without this file every form still works.
(() => {
  const form = document.querySelector("form.answers");
  if (!form) return;
  const status = form.querySelector(".saved");
  const store = "draft " + form.elements.key.value;
  const say = (text) => { if (status && status.textContent !== text) status.textContent = text; };
  let timer = 0, wait = 1000, sent = "", busy = false;
  const body = () => new URLSearchParams(new FormData(form)).toString();
  const keep = () => { try { localStorage.setItem(store, body()); } catch { /* private windows keep nothing */ } };
  async function save() {
    const now = body();
    if (busy || now === sent) return;
    busy = true;
    try {
      const answer = await fetch(form.dataset.draft, { method: "POST", body: now, headers: { "content-type": "application/x-www-form-urlencoded" } });
      if (answer.ok) { sent = now; wait = 1000; say(form.dataset.saved || ""); }
      else if (answer.status !== 409) throw new Error(answer.status);
    } catch {
      say(form.dataset.unsaved || "");
      wait = Math.min(wait * 2, 30000);
      timer = setTimeout(save, wait);
    }
    busy = false;
  }
  const changed = () => { keep(); clearTimeout(timer); timer = setTimeout(save, 800); };
  form.addEventListener("input", changed);
  form.addEventListener("change", changed);
  window.addEventListener("online", save);
  let handed = false;
  form.addEventListener("submit", (event) => {
    if (handed) { event.preventDefault(); return; }
    handed = true;
    setTimeout(() => { handed = false; }, 5000);
    try { localStorage.removeItem(store); } catch { /* as above */ }
  });
  // What was typed while the network was gone is put back.
  try {
    const kept = new URLSearchParams(localStorage.getItem(store) || "");
    for (const [name, value] of kept) {
      if (name === "csrf" || name === "key" || name === "declined") continue;
      for (const field of form.querySelectorAll(`[name="${CSS.escape(name)}"]`)) {
        if (field.type === "radio" || field.type === "checkbox") field.checked = field.checked || field.value === value;
        else if (!field.value.trim()) field.value = value;
      }
    }
  } catch { /* nothing kept */ }
  for (const area of form.querySelectorAll("textarea[data-counter]")) {
    const counter = document.createElement("span");
    counter.className = "counter";
    area.after(counter);
    const count = () => {
      const words = area.value.trim() ? area.value.trim().split(/\s+/).length : 0;
      counter.textContent = `${words} ${area.dataset.counter}`;
      counter.classList.toggle("fault", words > Number(area.dataset.limit));
    };
    area.addEventListener("input", count);
    count();
  }
  for (const list of form.querySelectorAll("ol.rank")) {
    const items = () => [...list.children];
    const number = () => { items().forEach((item, place) => { item.querySelector("select").value = String(place + 1); }); changed(); };
    const placed = items().filter((item) => item.querySelector("select").value);
    placed.sort((a, b) => a.querySelector("select").value - b.querySelector("select").value).forEach((item) => list.append(item));
    let held = null;
    for (const item of items()) {
      item.draggable = true;
      item.addEventListener("dragstart", () => { held = item; item.classList.add("held"); });
      item.addEventListener("dragend", () => { item.classList.remove("held"); held = null; number(); });
      item.addEventListener("dragover", (event) => {
        if (!held || held === item) return;
        event.preventDefault();
        const box = item.getBoundingClientRect();
        list.insertBefore(held, event.clientY < box.top + box.height / 2 ? item : item.nextSibling);
      });
      for (const [name, step] of [["up", -1], ["down", 1]]) {
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = step < 0 ? "↑" : "↓";
        button.setAttribute("aria-label", `${list.dataset[name]}: ${item.querySelector("label").textContent}`);
        button.addEventListener("click", () => {
          const other = step < 0 ? item.previousElementSibling : item.nextElementSibling;
          if (!other) return;
          step < 0 ? list.insertBefore(item, other) : list.insertBefore(other, item);
          number();
          button.focus();
        });
        item.append(button);
      }
    }
  }
})();
