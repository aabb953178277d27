// Tables that sort by a click or the Enter key on a column's title, and long ones that filter by words.
(() => {
  "use strict";
  const LONG = 8; // rows from which a table has a filter
  const NUMBER = /^[<>~]?\s*([+\-\u2212]?(?:\d[\d,]*\.?\d*|\.\d+)(?:e[+\-]?\d+)?)/i;

  const textOf = (row, column) => (row.cells[column] ? row.cells[column].textContent.trim() : "");
  const numberOf = (text) => {
    const match = NUMBER.exec(text);
    return match ? Number(match[1].replace(/,/g, "").replace("\u2212", "-")) : NaN;
  };

  // Return the order of two cells; empty ones come last in either direction.
  const compare = (a, b, numeric, sign) => {
    if (a === "" || b === "") return (a === "") - (b === "");
    return sign * (numeric ? numberOf(a) - numberOf(b) : a.localeCompare(b, "en", { numeric: true }));
  };

  const sort = (table, rows, titles, column) => {
    const title = titles[column];
    const direction = title.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
    titles.forEach((other) => other.removeAttribute("aria-sort"));
    title.setAttribute("aria-sort", direction);
    const filled = rows.map((row) => textOf(row, column)).filter((text) => text !== "");
    const numeric = filled.length > 0 && filled.every((text) => !Number.isNaN(numberOf(text)));
    const sign = direction === "ascending" ? 1 : -1;
    rows.sort((a, b) => compare(textOf(a, column), textOf(b, column), numeric, sign));
    table.tBodies[0].append(...rows);
    table.classList.add("sorted"); // names of groups are now shown in every row
  };

  const makeSortable = (table, rows) => {
    const titles = [...table.tHead.rows[0].cells];
    titles.forEach((title, column) => {
      if (title.textContent.trim() === "") return;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...title.childNodes);
      button.addEventListener("click", () => sort(table, rows, titles, column));
      title.append(button);
    });
  };

  const makeFilter = (table, rows, number) => {
    const bar = document.createElement("p");
    const label = document.createElement("label");
    const input = document.createElement("input");
    const count = document.createElement("span");
    bar.className = "filter";
    input.type = "search";
    input.id = `filter-${number}`;
    input.placeholder = "words, such as a data set";
    label.htmlFor = input.id;
    label.textContent = "Filter ";
    count.setAttribute("role", "status");
    const words = new Map(rows.map((row) => [row, [...row.cells].map((cell) => cell.textContent).join(" ").toLowerCase()]));
    const show = () => {
      const wanted = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      rows.forEach((row) => { row.hidden = !wanted.every((word) => words.get(row).includes(word)); });
      const shown = rows.filter((row) => !row.hidden).length;
      table.classList.toggle("filtered", wanted.length > 0);
      count.textContent = `${shown} of ${rows.length} rows`;
    };
    input.addEventListener("input", show);
    bar.append(label, input, count);
    (table.closest(".scroll") || table).before(bar);
    show();
  };

  [...document.querySelectorAll("table.sortable")].forEach((table, number) => {
    const rows = [...table.tBodies[0].rows];
    if (rows.length > 1) makeSortable(table, rows);
    if (rows.length >= LONG) makeFilter(table, rows, number);
  });
})();
