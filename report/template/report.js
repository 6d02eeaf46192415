// What needs a script: the map to explore, sorting and filtering the ledger, and the mark in the
// contents. Without it the page shows the same numbers in pictures and plain tables.
"use strict";

(() => {
  const make = (name, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
  };
  const choice = (label, options, onChange) => {
    const select = make("select");
    const fill = (entries) => {
      const kept = select.selectedIndex;
      select.replaceChildren(
        ...entries.map(([value, text]) => make("option", { value, textContent: text })),
      );
      select.selectedIndex = Math.min(Math.max(kept, 0), entries.length - 1);
    };
    fill(options);
    select.addEventListener("change", onChange);
    return { fill, select, element: make("label", {}, label, select) };
  };
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

  function explorer(place, data) {
    const names = Object.keys(data);
    let token = 1;
    const model = choice("Model", names.map((name) => [name, data[name].label]), draw);
    const sentence = choice("Adjective", [], draw);
    const block = choice("Block", [], draw);
    const head = choice("Head", [], draw);
    const words = make("div", { className: "sentence" });
    words.setAttribute("role", "toolbar");
    words.setAttribute("aria-label", "Words that the model sees, with their weights");
    const answer = make("p");
    const details = make("div");
    details.setAttribute("aria-live", "polite");

    function draw() {
      const run = data[model.select.value];
      sentence.fill(run.sentences.map((entry, i) => [i, `${entry.adjective} → ${entry.referent}`]));
      const shown = run.sentences[sentence.select.value];
      block.fill(shown.blocks.map((_, i) => [i, String(i + 1)]));
      const heads = shown.blocks[block.select.value];
      head.fill([["mean", "mean"], ...heads.map((_, i) => [i, String(i + 1)])]);
      const weights = shown.words.map((_, i) => weight(heads, head.select.value, i));
      words.replaceChildren(
        ...shown.words.map((word, i) => button(word, i, weights[i])),
        make("span", { className: "asked", textContent: "→ ?" }),
      );
      const right = shown.answer === shown.referent ? "right" : "wrong";
      answer.textContent =
        `Seed ${run.seed} answers “${shown.answer}”, which is ${right}. ` +
        "Each number is the weight that the last word puts on this one.";
      show(shown);
    }

    const weight = (heads, which, i) =>
      which === "mean" ? mean(heads.map((row) => row[i])) : heads[which][i];

    function button(word, i, value) {
      const element = make("button", { className: "token", type: "button", tabIndex: -1 });
      element.append(make("span", { textContent: word }), make("small", { textContent: value.toFixed(2) }));
      element.style.setProperty("--weight", value);
      for (const event of ["pointerenter", "focus", "click"]) {
        element.addEventListener(event, () => choose(i));
      }
      return element;
    }

    function choose(i) {
      if (i !== token) {
        token = i;
        show(data[model.select.value].sentences[sentence.select.value]);
      }
    }

    function show(shown) {
      [...words.querySelectorAll("button")].forEach((element, i) => {
        element.tabIndex = i === token ? 0 : -1;
        element.setAttribute("aria-pressed", String(i === token));
      });
      const count = shown.blocks[0].length;
      const heading = (text, scope) => make("th", { textContent: text, scope });
      const top = make("tr", {}, make("td"), heading("mean", "col"));
      for (let i = 0; i < count; i += 1) {
        top.append(heading(`head ${i + 1}`, "col"));
      }
      const rows = shown.blocks.map((heads, b) => {
        const row = make("tr", {}, heading(`block ${b + 1}`, "row"));
        for (const which of ["mean", ...heads.keys()]) {
          const value = weight(heads, which, token);
          const cell = make("td", { className: "number", textContent: value.toFixed(3) });
          cell.style.setProperty("--weight", value);
          const chosen = b === block.select.selectedIndex && String(which) === head.select.value;
          cell.classList.toggle("chosen", chosen);
          row.append(cell);
        }
        return row;
      });
      const caption = make("caption", {
        textContent: `Weights on “${shown.words[token]}”, word ${token + 1} of ${shown.words.length}`,
      });
      const table = make("table", {}, caption, make("thead", {}, top), make("tbody", {}, ...rows));
      details.replaceChildren(make("div", { className: "scroll" }, table));
    }

    words.addEventListener("keydown", (event) => {
      const last = words.querySelectorAll("button").length - 1;
      const next = { ArrowLeft: token - 1, ArrowRight: token + 1, Home: 0, End: last }[event.key];
      if (next !== undefined) {
        event.preventDefault();
        words.querySelectorAll("button")[Math.min(Math.max(next, 0), last)].focus();
      }
    });

    const choices = [model, sentence, block, head].map((entry) => entry.element);
    place.append(make("div", { className: "choices" }, ...choices), words, answer, details);
    place.hidden = false;
    draw();
  }

  function ledger(table, place) {
    const body = table.tBodies[0];
    const rows = [...body.rows];
    const distinct = (key) => [...new Set(rows.map((row) => row.dataset[key]))];
    const options = (key) => [["", "all"], ...distinct(key).map((value) => [value, value])];
    const text = make("input", { type: "search" });
    const verdict = choice("Verdict", options("verdict"), filter);
    const section = choice("Section", options("section"), filter);
    const found = make("output");
    text.addEventListener("input", filter);

    function filter() {
      const wanted = text.value.trim().toLowerCase();
      let count = 0;
      for (const row of rows) {
        row.hidden = !(
          row.textContent.toLowerCase().includes(wanted) &&
          ["", row.dataset.verdict].includes(verdict.select.value) &&
          ["", row.dataset.section].includes(section.select.value)
        );
        count += row.hidden ? 0 : 1;
      }
      found.textContent = `${count} of ${rows.length} figures`;
    }

    function sort(heading, column) {
      const direction = heading.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      // Numbers come before words, and what is missing comes last, whichever the direction.
      const key = (row) => {
        const text = row.cells[column].dataset.sort ?? row.cells[column].textContent.trim();
        const number = text === "" ? NaN : Number(text);
        return text === "inf" ? [2, 0] : Number.isNaN(number) ? [1, text] : [0, number];
      };
      const order = (one, other) => {
        const [[a, x], [b, y]] = [key(one), key(other)];
        return a - b || direction * (a === 1 ? x.localeCompare(y) : x - y);
      };
      body.append(...rows.sort(order));
      for (const other of table.tHead.querySelectorAll("th")) {
        other.removeAttribute("aria-sort");
      }
      heading.setAttribute("aria-sort", direction === 1 ? "ascending" : "descending");
    }

    [...table.tHead.rows[0].cells].forEach((heading, column) => {
      const button = make("button", { type: "button" }, ...heading.childNodes);
      button.addEventListener("click", () => sort(heading, column));
      heading.replaceChildren(button);
    });
    place.append(make("label", {}, "Search", text), verdict.element, section.element, found);
    place.hidden = false;
    // A link to a figure must find it, whatever is filtered.
    window.addEventListener("hashchange", () => {
      const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
      if (target?.hidden) {
        text.value = "";
        verdict.select.value = section.select.value = "";
        filter();
        target.scrollIntoView();
      }
      target?.closest("details")?.setAttribute("open", "");
    });
    filter();
  }

  function contents() {
    const links = new Map(
      [...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]),
    );
    const observer = new IntersectionObserver(
      (entries) => {
        for (const entry of entries) {
          if (entry.isIntersecting) {
            links.forEach((link) => link.removeAttribute("aria-current"));
            links.get(entry.target.id)?.setAttribute("aria-current", "true");
          }
        }
      },
      { rootMargin: "-20% 0px -75% 0px" },
    );
    document.querySelectorAll("main > section").forEach((section) => observer.observe(section));
  }

  // What scrolls must be reached by keyboard; what does not should not stop it.
  function scrollers() {
    const check = (element) => {
      const scrolls =
        element.scrollWidth > element.clientWidth || element.scrollHeight > element.clientHeight;
      element.toggleAttribute("tabindex", scrolls);
      if (element.hasAttribute("tabindex")) {
        element.tabIndex = 0;
      }
    };
    const observer = new ResizeObserver((entries) => entries.forEach((entry) => check(entry.target)));
    document.querySelectorAll(".scroll, math[display=block]").forEach((element) => observer.observe(element));
  }

  const data = document.getElementById("attention-data");
  if (data) {
    explorer(document.getElementById("attention-explorer"), JSON.parse(data.textContent));
  }
  const table = document.querySelector("table.ledger");
  if (table) {
    ledger(table, document.getElementById("ledger-controls"));
  }
  contents();
  scrollers();
})();
