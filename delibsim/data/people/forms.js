"use strict";
// Drafts, counters, ranking, what is left of a forced distribution. Without this file every form
// still works.
(() => {
  const form = document.querySelector("form.answers");
  if (!form) return;
  const texts = form.dataset;
  const status = form.querySelector(".saved");
  const button = form.querySelector("button.first");
  const name = "draft " + form.elements.key.value;
  const say = (text) => { if (status && status.textContent !== (text || "")) status.textContent = text || ""; };

  // The copy in this browser, which is there only while the server has not got what was typed.
  const copy = {
    read() { try { return localStorage.getItem(name); } catch { return null; } },
    write(text) { try { localStorage.setItem(name, text); } catch { /* private windows keep nothing */ } },
    drop() { try { localStorage.removeItem(name); } catch { /* as above */ } },
  };
  const fields = () => new URLSearchParams(new FormData(form));
  const answers = () => {
    const all = fields();
    for (const own of ["csrf", "key", "declined"]) all.delete(own);
    return all.toString();
  };
  let sent = answers(), timer = 0, wait = 1000, sending = false, over = false, handed = false;

  function put(text) {
    for (const one of form.querySelectorAll("input[type=radio], input[type=checkbox]")) one.checked = false;
    for (const [field, value] of new URLSearchParams(text)) {
      if (["csrf", "key", "declined"].includes(field)) continue;
      for (const one of form.querySelectorAll(`[name="${CSS.escape(field)}"]`)) {
        if (one.type === "radio" || one.type === "checkbox") one.checked = one.checked || one.value === value;
        else if (one.type !== "hidden") one.value = value;
      }
    }
  }
  const kept = copy.read();
  const restored = kept !== null && kept !== sent;
  if (restored) { put(kept); say(texts.restored); } else copy.drop();

  function later(seconds) { clearTimeout(timer); timer = setTimeout(save, seconds); }
  async function save() {
    clearTimeout(timer);
    const now = answers();
    if (over || handed || now === sent || !texts.draft) return;
    if (sending) { later(500); return; }
    sending = true;
    try {
      const answer = await fetch(texts.draft, { method: "POST", body: fields(), redirect: "error" });
      if (answer.status === 409) { over = true; copy.drop(); say(texts.gone); }
      else if (!answer.ok) throw new Error(answer.status);
      else {
        sent = now; wait = 1000;
        if (answers() === now) { copy.drop(); say(texts.saved); }
      }
    } catch {
      copy.write(answers());
      say(texts.unsaved);
      wait = Math.min(wait * 2, 30000);
      later(wait);
    }
    sending = false;
  }
  function changed() {
    if (over || handed || !texts.draft) return; // a preview keeps nothing
    copy.write(answers());
    say("");
    later(800);
  }
  form.addEventListener("input", changed);
  form.addEventListener("change", changed);
  window.addEventListener("online", () => { wait = 1000; save(); });
  window.addEventListener("storage", (event) => { if (event.key === name && event.newValue !== null) say(texts.elsewhere); });
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState !== "hidden" || over || handed || answers() === sent) return;
    if (navigator.sendBeacon) navigator.sendBeacon(texts.draft, fields());
  });
  if (restored) later(0);

  // Handed in once; without a network the page stays, with everything that was typed.
  form.addEventListener("submit", (event) => {
    if (handed) { event.preventDefault(); return; }
    if (navigator.onLine === false) { event.preventDefault(); copy.write(answers()); say(texts.unsaved); return; }
    if (answers() !== sent) copy.write(answers());
    handed = true;
    clearTimeout(timer);
    if (button) button.setAttribute("aria-disabled", "true");
    setTimeout(ready, 10000);
  });
  function ready() {
    handed = false;
    if (button) button.removeAttribute("aria-disabled");
  }
  window.addEventListener("pageshow", ready);
  try {
    for (const other of Object.keys(localStorage)) if (other.startsWith("draft ") && other !== name) localStorage.removeItem(other);
  } catch { /* as above */ }

  for (const area of form.querySelectorAll("textarea[data-counter]")) {
    const counter = document.createElement("span");
    counter.className = "counter";
    counter.id = `${area.id}-counter`;
    area.after(counter);
    area.setAttribute("aria-describedby", [area.getAttribute("aria-describedby"), counter.id].filter(Boolean).join(" "));
    const { least, limit } = area.dataset;
    const count = () => {
      const words = area.value.trim() ? area.value.trim().split(/\s+/).length : 0;
      const one = words === 1 || (words === 0 && document.documentElement.lang === "fr");
      counter.textContent = `${words} ${one ? area.dataset.one : area.dataset.counter}`;
      if (least > 0) counter.textContent += ` (${least}–${limit})`;
      counter.classList.toggle("fault", words > Number(limit));
    };
    area.addEventListener("input", count);
    count();
  }

  // A slider beside each number from low to high. It says nothing until it was moved: the number is
  // the answer, and where it is empty, none is given.
  for (const told of form.querySelectorAll("[data-slide]")) told.textContent = told.dataset.slide;
  for (const box of form.querySelectorAll(".slider")) {
    const number = box.querySelector("input"), range = document.createElement("input");
    const { low, high, unset } = box.dataset;
    const legend = box.parentElement.querySelector("legend");
    range.type = "range";
    range.min = low;
    range.max = high;
    range.setAttribute("aria-label", [legend, box.querySelector("label")].filter(Boolean).map((one) => one.textContent.trim()).join(", "));
    range.setAttribute("aria-describedby", number.getAttribute("aria-describedby"));
    box.querySelector(".track").prepend(range);
    const show = () => {
      const text = number.value.trim(), value = Number(text);
      const given = text !== "" && Number.isInteger(value) && value >= Number(low) && value <= Number(high);
      range.classList.toggle("unset", !given);
      range.value = given ? text : String(Math.round((Number(low) + Number(high)) / 2));
      if (given) range.removeAttribute("aria-valuetext");
      else range.setAttribute("aria-valuetext", unset);
      if (given && begun) mended();
    };
    const take = () => {
      number.value = range.value;
      show();
      changed();
    };
    const mended = () => {
      box.classList.remove("wrong");
      number.removeAttribute("aria-invalid");
      box.querySelector(".fault")?.remove();
    };
    let before = "", begun = false;
    range.addEventListener("pointerdown", () => { before = number.value; });
    range.addEventListener("pointercancel", () => { number.value = before; show(); changed(); }); // the page was moved
    range.addEventListener("input", take);
    range.addEventListener("click", take); // in the middle, where nothing moves
    number.addEventListener("input", show);
    show();
    begun = true;
  }

  const counts = form.querySelector(".counts");
  if (counts) {
    counts.querySelector("p").textContent = counts.dataset.left;
    const told = counts.querySelector(".fault");
    const count = () => {
      const given = [...form.querySelectorAll(".item :checked")].map((one) => one.value);
      let many = "";
      for (const one of counts.querySelectorAll("li")) {
        const left = Number(one.dataset.due) - given.filter((value) => value === one.dataset.count).length;
        one.querySelector("span").textContent = `${left} / ${one.dataset.due}`;
        one.classList.toggle("none", left === 0);
        one.classList.toggle("over", left < 0);
        if (left < 0 && !many) many = counts.dataset.over.replace("#", one.dataset.count);
      }
      if (told.textContent !== many) told.textContent = many;
    };
    form.addEventListener("change", count);
    count();
  }

  for (const told of form.querySelectorAll("[data-how]")) told.textContent += ` ${told.dataset.how}`;
  for (const list of form.querySelectorAll("ol.rank")) {
    const items = () => [...list.children];
    const number = (item) => item.querySelector("input");
    const label = (item) => item.querySelector("label").textContent.trim();
    const spoken = document.createElement("p");
    spoken.className = "how";
    spoken.setAttribute("role", "status");
    const keep = make(list.dataset.keep, () => { ranked(); keep.remove(); items()[0].querySelector("button").focus(); });
    const ranked = (moved) => {
      items().forEach((item, place) => { number(item).value = String(place + 1); });
      list.classList.remove("unranked");
      keep.remove();
      if (moved) spoken.textContent = `${label(moved)}: ${list.dataset.moved} ${items().indexOf(moved) + 1}`;
      changed();
    };
    function make(text, act) {
      const made = document.createElement("button");
      made.type = "button";
      made.textContent = text;
      made.addEventListener("click", act);
      return made;
    }
    const placed = items().filter((item) => number(item).value);
    placed.sort((a, b) => number(a).value - number(b).value).reverse().forEach((item) => list.prepend(item));
    list.after(spoken);
    if (placed.length < items().length) { list.classList.add("unranked"); list.after(keep); }
    for (const item of items()) {
      number(item).addEventListener("change", () => {
        const place = Number(number(item).value);
        if (list.classList.contains("unranked")) {
          const ranks = new Set(items().map((other) => number(other).value).filter(Boolean));
          if (ranks.size < items().length) return;
          items().sort((a, b) => number(a).value - number(b).value).forEach((other) => list.append(other));
          ranked();
          return;
        }
        if (!Number.isInteger(place) || place < 1 || place > items().length) return;
        const others = items().filter((other) => other !== item);
        list.insertBefore(item, others[place - 1] || null);
        ranked(item);
        number(item).focus();
      });
      for (const [text, said, step] of [["↓", list.dataset.down, 1], ["↑", list.dataset.up, -1]]) {
        const made = make(text, () => {
          const other = step < 0 ? item.previousElementSibling : item.nextElementSibling;
          if (other && step < 0) list.insertBefore(item, other);
          if (other && step > 0) list.insertBefore(other, item);
          ranked(item);
          made.focus();
        });
        made.setAttribute("aria-label", `${said}: ${label(item)}`);
        number(item).after(made);
      }
      const grip = make("⠿", () => {});
      grip.className = "grip";
      grip.tabIndex = -1; // the buttons and the number do the same by keyboard
      grip.setAttribute("aria-hidden", "true");
      grip.title = list.dataset.drag;
      item.prepend(grip);
      grip.addEventListener("pointerdown", (event) => {
        event.preventDefault();
        grip.setPointerCapture(event.pointerId);
        item.classList.add("held");
      });
      grip.addEventListener("pointermove", (event) => {
        if (!item.classList.contains("held")) return;
        for (const other of items()) {
          if (other === item) continue;
          const box = other.getBoundingClientRect(), middle = box.top + box.height / 2;
          const below = other.compareDocumentPosition(item) & Node.DOCUMENT_POSITION_PRECEDING;
          // The other one is moved: what is moved itself loses the pointer.
          if (below && event.clientY > middle) { list.insertBefore(other, item); break; }
          if (!below && event.clientY < middle) { list.insertBefore(other, item.nextSibling); break; }
        }
      });
      const drop = () => {
        if (!item.classList.contains("held")) return;
        item.classList.remove("held");
        ranked(item);
      };
      grip.addEventListener("pointerup", drop);
      grip.addEventListener("pointercancel", drop);
    }
  }
})();
