"use strict";
// What others say, as it comes. The form is never touched; a new request reloads the page.
(() => {
  // The time that is left, by the clock of the server; that of the browser may be off by hours.
  for (const left of document.querySelectorAll("[data-left]")) {
    const end = performance.now() + 1000 * Number(left.dataset.left);
    const show = () => {
      const seconds = Math.max(0, Math.round((end - performance.now()) / 1000));
      left.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    };
    show();
    setInterval(show, 1000);
  }
  // Who has no seat looks again; the page is loaded anew only when there is something else on it.
  const seat = document.querySelector("[data-again]");
  if (seat) setInterval(async () => {
    try {
      const answer = await fetch(location.href);
      const text = await answer.text();
      if (answer.status === 403 || (answer.ok && !text.includes("data-again"))) location.reload();
    } catch { /* the network is gone: the next look may find it again */ }
  }, 1000 * Number(seat.dataset.again));
  const part = document.getElementById("part");
  if (!part) return;
  let asked = false, again = false;
  function lost() {
    const state = part.querySelector(".state");
    if (state) state.textContent = part.dataset.lost;
  }
  async function renew() {
    if (asked) { again = true; return; }
    asked = true;
    try {
      const answer = await fetch(part.dataset.part);
      if (answer.status === 403 || answer.status === 404) { location.reload(); return; }
      if (!answer.ok) throw new Error(answer.status);
      const now = await answer.json();
      if (now.key !== part.dataset.key || (now.waits !== part.dataset.waits && now.waits !== "wait")) { location.reload(); return; }
      part.innerHTML = now.html;
    } catch {
      lost();
    }
    asked = false;
    if (again) { again = false; renew(); }
  }
  if (!part.dataset.events) { // who watches a demonstration has no seat, and looks again
    if (part.dataset.waits !== "over") setInterval(renew, 2000);
    return;
  }
  if (!window.EventSource) return;
  // A browser comes back by itself where the network was gone, but not where a server or a proxy
  // answered that it cannot: then this asks again, less and less often.
  let wait = 1000;
  function listen() {
    const events = new EventSource(part.dataset.events);
    events.addEventListener("change", renew);
    events.addEventListener("open", () => { wait = 1000; renew(); });
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
