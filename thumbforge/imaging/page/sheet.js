"use strict";
// Filters, and commands that are copied. Without it the page shows all and every command can be marked by hand.
const root = document.documentElement;
const told = document.getElementById("told");
const filters = document.querySelector(".filters");

function show(button) {
  root.dataset.filter = button.dataset.show;
  for (const one of filters.children) one.setAttribute("aria-pressed", String(one === button));
}

async function copy(code) {
  try {
    await navigator.clipboard.writeText(code.textContent);
    told.textContent = `Copied: ${code.textContent}`;
  } catch {  // refused, or a browser that knows no clipboard here
    getSelection().selectAllChildren(code);
    told.textContent = "Marked: copy it with Ctrl+C or ⌘C";
  }
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button?.dataset.show) show(button);
  else if (button) copy(button.parentElement.querySelector("code"));
});

filters.hidden = false;
show(filters.firstElementChild);
