"use strict";
(() => {
  const frames = [...document.querySelectorAll("article")];
  const rows = [...document.querySelectorAll(".tape li")];
  const place = document.getElementById("place");
  const said = document.getElementById("said");
  let at = 0;

  const bringIntoSight = (node) => {
    node.classList.add("now");
    const box = node.closest(".drawn");
    const inner = node.getBoundingClientRect();
    const outer = box.getBoundingClientRect();
    box.scrollLeft += inner.left + inner.width / 2 - outer.left - outer.width / 2;
    box.scrollTop += inner.top + inner.height / 2 - outer.top - outer.height / 2;
  };
  const show = (wanted, quietly) => {
    at = Math.max(0, Math.min(wanted, frames.length - 1));
    frames.forEach((frame, k) => frame.classList.toggle("now", k === at));
    rows.forEach((row, k) => {
      row.classList.toggle("ahead", k > at);
      const link = row.firstElementChild;
      if (k === at) link.setAttribute("aria-current", "step");
      else link.removeAttribute("aria-current");
      if (k > at) link.setAttribute("aria-description", "not computed yet");
      else link.removeAttribute("aria-description");
    });
    for (const node of document.querySelectorAll(".graph .now")) node.classList.remove("now");
    const drawn = document.getElementById(`drawn-${rows[at].id}`);
    if (drawn) bringIntoSight(drawn);
    const list = rows[at].parentElement;
    const top = rows[at].offsetTop - list.offsetTop;
    if (top < list.scrollTop || top > list.scrollTop + list.clientHeight - 40)
      list.scrollTop = top - list.clientHeight / 2;
    place.textContent = frames[at].dataset.place;
    if (!quietly) said.textContent = frames[at].dataset.said;
    try {
      history.replaceState(null, "", `#at=${frames[at].id.slice(1)}`);
    } catch {
      // a page within another one may have no address of its own
    }
  };
  const moves = {
    first: () => 0,
    back: () => at - 1,
    on: () => at + 1,
    last: () => frames.length - 1,
  };
  const keys = { ArrowLeft: "back", ArrowRight: "on", Home: "first", End: "last" };
  const named = () => {
    const number = location.hash.replace(/^#(t|at=)/, "");
    return frames.findIndex((frame) => frame.id === `t${number}`);
  };

  document.addEventListener("keydown", (event) => {
    const move = keys[event.key];
    if (!move || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    if (event.target.closest(".drawn")) return;
    event.preventDefault();
    show(moves[move]());
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    const row = event.target.closest(".tape li");
    if (button) show(moves[button.dataset.move]());
    if (row) {
      event.preventDefault();
      show(rows.indexOf(row));
    }
  });
  addEventListener("hashchange", () => {
    if (named() >= 0) show(named());
  });
  if (!frames.length) return;
  document.body.classList.add("live");
  const first = frames.findIndex((frame) => "first" in frame.dataset);
  show(named() >= 0 ? named() : Math.max(first, 0), true);
})();
