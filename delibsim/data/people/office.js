"use strict";
// The part of the page that changes is asked for again when something has happened. What has the
// keyboard's focus keeps it.
(() => {
  const part = document.getElementById("office");
  if (!part || !window.EventSource) return;
  const PAUSE = 1500;
  let asked = false, again = false, wait = 1000;
  function lost() {
    const state = part.querySelector(".state, .now");
    if (state && state.textContent !== part.dataset.lost) state.textContent = part.dataset.lost;
  }
  function focused() {
    const one = document.activeElement;
    if (!one || !part.contains(one)) return null;
    const alike = [...part.querySelectorAll(one.tagName)];
    const key = one.getAttribute("href");
    return { tag: one.tagName, key, place: alike.indexOf(one) };
  }
  function focus(before) {
    if (!before) return;
    const alike = [...part.querySelectorAll(before.tag)];
    const same = before.key ? alike.find((one) => one.getAttribute("href") === before.key) : alike[before.place];
    if (same) same.focus({ preventScroll: true });
  }
  async function renew() {
    if (asked) { again = true; return; }
    asked = true;
    try {
      const answer = await fetch(part.dataset.part);
      if (answer.status === 403 || answer.status === 404) { location.reload(); return; }
      if (!answer.ok) throw new Error(answer.status);
      const text = await answer.text(), before = focused();
      part.innerHTML = text;
      focus(before);
    } catch {
      lost();
    }
    setTimeout(() => {
      asked = false;
      if (again) { again = false; renew(); }
    }, PAUSE);
  }
  function listen() {
    const events = new EventSource(part.dataset.events);
    events.addEventListener("change", renew);
    events.addEventListener("open", () => { wait = 1000; });
    events.addEventListener("error", () => {
      if (events.readyState === 1) return;
      lost();
      if (events.readyState !== 2) return;
      events.close();
      setTimeout(() => { renew(); listen(); }, wait);
      wait = Math.min(2 * wait, 30000);
    });
  }
  listen();
})();
