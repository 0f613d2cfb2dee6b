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
  // What is marked on a page becomes what it is on a fresh one. Elements that are on both stay
  // as they are, with focus, scroll, selection, what is open and what was typed.
  const named = (node) => {
    if (node.nodeType !== 1 || node.id) return node.id || "";
    const of = node.matches("tr,li,figure") ? node.querySelector("input[type=checkbox],a") : node.matches("a,form") && node;
    return of ? node.nodeName + (of.getAttribute("value") || of.getAttribute("href") || of.getAttribute("action") || "") : "";
  };
  const own = /^(open|hidden|data-current)$/; // what the reader or this script chose
  const morph = (now, fresh) => {
    if (now.nodeType !== 1) {
      if (now.nodeValue !== fresh.nodeValue) now.nodeValue = fresh.nodeValue;
      return;
    }
    if (now.matches("time") && now.dateTime === fresh.dateTime) return; // its text is relative
    for (const a of fresh.attributes) if (!own.test(a.name) && now.getAttribute(a.name) !== a.value) now.setAttribute(a.name, a.value);
    for (const a of Array.from(now.attributes)) if (!own.test(a.name) && !fresh.hasAttribute(a.name)) now.removeAttribute(a.name);
    const to = Array.from(fresh.childNodes), names = new Set(to.map(named));
    const stays = (node) => node && named(node) && names.has(named(node));
    let at = now.firstChild;
    const drop = () => { const gone = at; at = at.nextSibling; gone.remove(); };
    for (const one of to) {
      const name = named(one);
      let same = at;
      const differs = () => same.nodeName !== one.nodeName || named(same) !== name;
      if (name) while (same && differs()) same = same.nextSibling;
      else while (same && differs()) same = one.nodeType !== 1 || stays(same) ? null : same.nextSibling;
      if (!same) { now.insertBefore(one, at); continue; }
      while (at !== same && !stays(at)) drop();
      if (at === same) at = at.nextSibling;
      else now.insertBefore(same, at);
      morph(same, one);
    }
    while (at) drop();
  };
  // Live pages wait for news of what they show while somebody looks: one request at a time,
  // which the server answers when there is some.
  const news = new URL("../live", document.currentScript.src), headers = { "X-Console-Script": "1" };
  const rest = (ms) => new Promise((done) => { setTimeout(done, ms); });
  const seen = () => new Promise((done) => { document.addEventListener("visibilitychange", done, { once: true }); });
  let asking = new AbortController();
  const ask = async (address) => {
    const page = address !== news;
    const answer = await fetch(address, { headers, redirect: "manual", signal: asking.signal });
    const over = answer.type === "opaqueredirect" ? "You are signed out" : page && answer.status === 404 ? "What this page shows is not there any more" : page && answer.status === 403 && "You may not see this any more";
    if (over) {
      const said = document.createElement("p");
      said.className = "notice bad"; said.setAttribute("role", "alert");
      said.textContent = over + ": this page shows no news.";
      document.querySelector("main").prepend(said);
      delete document.body.dataset.live;
    } else if (!answer.ok && answer.status !== 400) throw answer.status;
    return over ? null : answer;
  };
  const again = async () => {
    const answer = await ask(location.href);
    if (!answer) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html"), focus = document.activeElement;
    for (const part of all("[data-part]")) {
      const other = fresh.getElementById(part.id);
      if (!other) continue;
      morph(part, other);
      times(part); buttons(part);
    }
    if (focus !== document.activeElement && focus.isConnected) focus.focus({ preventScroll: true });
    if (fresh.body.dataset.live) document.body.dataset.live = fresh.body.dataset.live;
    else delete document.body.dataset.live;
  };
  const live = async () => {
    let since = "", failures = 0;
    while (document.body.dataset.live) {
      if (document.hidden) { await seen(); continue; }
      asking = new AbortController();
      try {
        news.search = new URLSearchParams({ of: document.body.dataset.live, since });
        const answer = await ask(news), begun = Date.now();
        if (answer && answer.status !== 204) {
          const version = answer.ok ? (await answer.json()).version : since;
          if (since) await rest(1500 * Math.random()); // not all who look at it at once
          await again();
          since = version;
          if (!answer.ok) throw answer.status;
          await rest(4 * (Date.now() - begun)); // a page that is slow to make is made less often
        }
        failures = 0;
        await rest(500 * (0.5 + Math.random()));
      } catch {
        if (!asking.signal.aborted) await rest(1000 * Math.min(60, 2 ** failures++) * (0.5 + Math.random()));
      }
    }
  };
  document.addEventListener("visibilitychange", () => { if (document.hidden) asking.abort(); });
  live();
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
  const rows = () => all("tbody tr").filter((r) => r.querySelector("a"));
  const move = (by) => {
    const list = rows(), from = list.findIndex((r) => r.matches("[data-current]"));
    if (!list.length) return;
    if (from >= 0) list[from].removeAttribute("data-current");
    const to = list[Math.max(0, Math.min(list.length - 1, from + by))];
    to.setAttribute("data-current", "");
    to.scrollIntoView({ block: "nearest" });
  };
  const help = document.getElementById("keys");
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input:not([type=checkbox],[type=radio]),select,textarea") || document.querySelector("dialog[open]")) return;
    const current = rows().find((r) => r.matches("[data-current]"));
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
