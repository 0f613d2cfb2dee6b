// The console without this script does all the same; it adds what a page cannot do by itself.
"use strict";
(() => {
  const all = (selector, root) => Array.from((root || document).querySelectorAll(selector));
  const units = [[60, "second", 1], [3600, "minute", 60], [86400, "hour", 3600], [2592000, "day", 86400]];
  const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
  const local = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
  // Times: relative to now for a month, then in the reader's zone; UTC stays on hover.
  const times = (root) => {
    for (const element of all("time[datetime]", root)) {
      const at = new Date(element.getAttribute("datetime"));
      if (isNaN(at)) continue;
      const seconds = (at - Date.now()) / 1000;
      const unit = units.find((u) => Math.abs(seconds) < u[0]);
      const text = unit ? relative.format(Math.round(seconds / unit[2]), unit[1]) : local.format(at);
      if (element.textContent !== text) element.textContent = text;
    }
  };
  const buttons = (root) => {
    for (const button of all("[data-copy]", root)) {
      button.hidden = false;
      button.onclick = async () => {
        try {
          await navigator.clipboard.writeText(button.dataset.copy);
          button.textContent = "Copied";
        } catch { button.textContent = "Not copied"; }
        setTimeout(() => { button.textContent = "Copy"; }, 2000);
      };
    }
    for (const form of all("form[data-confirm]", root)) {
      form.onsubmit = (event) => { if (!confirm(form.dataset.confirm)) event.preventDefault(); };
    }
    for (const box of all("[data-all]", root)) {
      box.hidden = false;
      box.onchange = () => { for (const one of all('input[type=checkbox][name="' + box.dataset.all + '"]')) one.checked = box.checked; };
    }
    for (const picture of all("img[data-zoom]", root)) {
      picture.onclick = () => {
        const dialog = document.createElement("dialog"), large = document.createElement("img");
        large.src = picture.src; large.alt = picture.alt;
        dialog.append(large); document.body.append(dialog);
        dialog.onclick = () => dialog.close();
        dialog.onclose = () => dialog.remove();
        dialog.showModal();
      };
    }
  };
  // Live pages read themselves anew while somebody looks, and change what is marked.
  const seconds = Number(document.body.dataset.live);
  if (seconds > 0) {
    const again = async () => {
      if (!document.hidden && !document.querySelector("dialog[open]")) {
        try {
          const answer = await fetch(location.href, { headers: { "X-Console-Script": "1" }, redirect: "manual" });
          if (answer.type === "opaqueredirect") {
            const said = document.createElement("p");
            said.className = "notice bad"; said.setAttribute("role", "alert");
            said.textContent = "You are signed out: this page shows no news any more.";
            document.querySelector("main").prepend(said);
            return;
          }
          if (answer.ok) {
            const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
            for (const part of all("[data-part]")) {
              const other = fresh.getElementById(part.id);
              if (part.contains(document.activeElement) || part.querySelector("details[open]")) continue;
              if (other && other.innerHTML !== part.dataset.raw) {
                part.dataset.raw = other.innerHTML;
                part.replaceChildren(...other.childNodes);
                times(part); buttons(part);
              }
            }
            if (!fresh.body.dataset.live) return;
          }
        } catch { /* the next look may succeed */ }
      }
      setTimeout(again, seconds * 1000);
    };
    setTimeout(again, seconds * 1000);
  }
  // Uploads: one file after the other, each with how far it is, or all of a form together where
  // they belong to each other; files can be dropped on the form.
  const made = (name, text, kind) => {
    const element = document.createElement(name);
    element.textContent = text; element.className = kind || "";
    return element;
  };
  const send = (form, data, line) => new Promise((done) => {
    const request = new XMLHttpRequest(), begun = Date.now();
    line.stop.onclick = () => request.abort();
    request.upload.onprogress = (e) => {
      if (!e.lengthComputable) return;
      line.bar.max = e.total; line.bar.value = e.loaded;
      const rate = e.loaded / ((Date.now() - begun) / 1000 || 1);
      line.say(Math.round(e.loaded / 1048576) + " of " + Math.round(e.total / 1048576) + " MiB, " + (rate / 1048576).toFixed(1) + " MiB/s, " + Math.round((e.total - e.loaded) / rate) + " s left");
    };
    request.onload = () => {
      if (request.status < 400) { done(request.responseURL); return; }
      const said = new DOMParser().parseFromString(request.responseText, "text/html").querySelector("main p");
      line.end(said ? said.textContent : "The server refused the file.");
      done("");
    };
    request.onerror = () => { line.end("The connection was lost. Nothing was stored."); done(""); };
    request.onabort = () => { line.end("Cancelled."); done(""); };
    request.open("POST", form.action);
    request.setRequestHeader("X-Console-Script", "1");
    request.send(data);
  });
  for (const form of all("form[data-upload]")) {
    const field = form.querySelector("input[type=file][required]"), button = form.querySelector("button[type=submit]");
    const list = made("ul", "", "uploads"), said = made("p", "");
    said.setAttribute("role", "status");
    form.append(said, list);
    const together = form.dataset.upload === "together";
    field.multiple = true;
    const chosen = () => { said.textContent = field.files.length > 1 ? field.files.length + " files are chosen. " + (together ? "They are sent together." : "Each becomes an upload of its own.") : ""; };
    field.onchange = chosen;
    form.ondragover = (event) => { event.preventDefault(); form.classList.add("over"); };
    form.ondragleave = () => form.classList.remove("over");
    form.ondrop = (event) => {
      form.classList.remove("over");
      if (event.target !== field && event.target.matches("input[type=file]")) return; // the browser puts it there
      event.preventDefault();
      if (event.dataTransfer.files.length) { field.files = event.dataTransfer.files; chosen(); }
    };
    const waiting = (title, file) => {
      const item = made("li", ""), name = made("b", title), bar = document.createElement("progress"), text = made("span", "waits"), stop = made("button", "Cancel", "quiet");
      const line = { file, bar, stop, over: false, say: (words) => { text.textContent = words; } };
      stop.type = "button"; bar.max = 1; bar.value = 0;
      stop.setAttribute("aria-label", "Cancel " + title); bar.setAttribute("aria-label", title);
      line.end = (words, address) => {
        line.over = true; bar.remove(); stop.remove(); line.say(words);
        if (address) { const link = made("a", title); link.href = address; name.replaceChildren(link); }
      };
      stop.onclick = () => line.end("Cancelled.");
      item.append(name, " ", bar, " ", text, " ", stop);
      list.append(item);
      return line;
    };
    form.onsubmit = async (event) => {
      event.preventDefault();
      if (button.disabled) return;
      button.disabled = true;
      list.replaceChildren(); said.textContent = "";
      const files = Array.from(field.files);
      const lines = together && files.length > 1 ? [waiting(files.length + " files")] : files.map((file) => waiting(file.name, file));
      let last = "", stored = 0;
      for (const line of lines) {
        if (line.over) continue;
        const data = new FormData(form);
        if (line.file) data.set(field.name, line.file, line.file.name);
        // What belongs to one file is not that of the others.
        if (lines.length > 1) for (const other of all("input[type=file]", form)) if (other !== field) data.delete(other.name);
        line.say("is sent");
        const address = await send(form, data, line);
        if (address) { stored++; last = address; line.end("is stored", address); }
      }
      button.disabled = false;
      if (lines.length === 1 && last) location.href = last;
      else if (lines.length > 1) said.textContent = stored + " of " + lines.length + " files are stored.";
    };
  }
  // Keys.
  let row = -1;
  const rows = () => all("tbody tr").filter((r) => r.querySelector("a"));
  const move = (by) => {
    const list = rows();
    if (!list.length) return;
    list.forEach((r) => r.classList.remove("current"));
    row = Math.max(0, Math.min(list.length - 1, row + by));
    list[row].classList.add("current");
    list[row].scrollIntoView({ block: "nearest" });
  };
  const help = document.getElementById("keys");
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input,select,textarea") || document.querySelector("dialog[open]")) return;
    const current = rows()[row];
    switch (event.key) {
      case "/": {
        const field = document.querySelector('[data-key="/"]');
        if (field) { event.preventDefault(); field.focus(); field.select(); }
        break;
      }
      case "j": move(1); break;
      case "k": move(-1); break;
      case "x": { const box = current && current.querySelector("input[type=checkbox]"); if (box) box.click(); break; }
      case "Enter": { const link = current && event.target === document.body && current.querySelector("a"); if (link) link.click(); break; }
      case "e": { const button = document.querySelector('[data-key="e"]'); if (button) button.click(); break; }
      case "?": if (help) help.showModal(); break;
    }
  });
  for (const link of all("[data-help]")) link.onclick = (event) => { event.preventDefault(); help.showModal(); };
  // The theme of one's choice.
  const chosen = () => { try { return localStorage.getItem("theme"); } catch { return null; } };
  const dress = () => { const theme = chosen(); if (theme) document.documentElement.dataset.theme = theme; else delete document.documentElement.dataset.theme; };
  const foot = document.querySelector("footer");
  if (foot) {
    const button = document.createElement("button");
    button.type = "button"; button.className = "quiet"; button.textContent = "Theme: " + (chosen() || "system");
    button.onclick = () => {
      const next = { "": "dark", dark: "light", light: "" }[chosen() || ""];
      try { if (next) localStorage.setItem("theme", next); else localStorage.removeItem("theme"); } catch { return; }
      button.textContent = "Theme: " + (next || "system"); dress();
    };
    foot.append(" ", button);
  }
  // On a phone the areas and tabs scroll: the current one is in sight.
  for (const current of all(".bar [aria-current],.tabs [aria-current]")) {
    const strip = current.closest("ul");
    if (strip.scrollWidth > strip.clientWidth) strip.scrollLeft = current.offsetLeft - strip.offsetLeft - 40;
  }
  dress(); times(); buttons();
  setInterval(times, 30000);
})();
