// Checks with Puppeteer, unmodified; run on a Chromium of its own and on a session of a shared one.
// argv: the package, how to connect (JSON), a folder files may be in. Prints {check: what it saw}.
// What a check returns must be the same both times, so it names no ports and no ids.
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';

const [entry, how, folder] = process.argv.slice(2);
const {default: puppeteer, KnownDevices} = await import(entry);
const CHECK_MS = 15_000;
const checks = {};
// A context is a window, which costs more than its page, and a page is a process: checks that keep
// nothing and draw nothing share a context; those that leave nothing but a document, a page, too.
const plain = (name, work) => { checks[name] = {work, isPlain: true}; };
const check = (name, work) => { checks[name] = {work}; };
const apart = (name, work) => { checks[name] = {work, isApart: true}; };

// --- a small web -----------------------------------------------------------------------------------

const pages = new Map();
const requests = [];
const server = http.createServer((request, response) => {
  let body = '';
  request.on('data', part => { body += part; });
  request.on('end', () => {
    requests.push({path: request.url, headers: request.headers, body});
    const made = pages.get(new URL(request.url, 'http://x').pathname);
    const answer = typeof made === 'function' ? made({request, body}) : made;
    const {status = 200, headers = {}, text = ''} = answer ?? {status: 404, text: 'nothing here'};
    response.writeHead(status, {'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store', ...headers});
    response.end(text);
  });
});
await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
const base = `http://127.0.0.1:${server.address().port}`;
const other = base.replace('127.0.0.1', 'localhost');
let numbers = 0;
function serve(answer, at) {
  const where = at ?? `/n${++numbers}`;
  pages.set(where, typeof answer === 'string' ? {text: `<!doctype html><title>Test</title><body>${answer}`} : answer);
  return base + where;
}
const script = (text, at) => serve({headers: {'content-type': 'text/javascript'}, text}, at);
const failure = async work => { try { await work(); return 'no error'; } catch (error) { return error.message.replaceAll(base, 'BASE'); } };
const once = (emitter, event) => new Promise(resolve => emitter.once(event, resolve));
/** What `look` finds, once that is anything; a check's own time limits it. */
async function soon(look) {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
  }
}
const short = url => url.replaceAll(base, 'BASE').replaceAll(other, 'OTHER').replace(/\/n\d+/g, '/N');

// --- navigation ------------------------------------------------------------------------------------

plain('goto answers with the response', async ({page}) => {
  const response = await page.goto(serve('<h1>one</h1>'));
  return [response.status(), response.ok(), await response.text(), response.fromCache()];
});
plain('goto a page that is not there', async ({page}) => (await page.goto(`${base}/missing`)).status());
check('goto a server that is not there', async ({page}) => failure(() => page.goto('http://127.0.0.1:9/')));
plain('goto waits for the network', async ({page}) => {
  serve('late', '/late');
  await page.goto(serve("<script>fetch('/late').then(r => r.text()).then(t => document.title = t.includes('late'))</script>"), {waitUntil: 'networkidle0'});
  return page.title();
});
plain('redirects are told in a chain', async ({page}) => {
  const goal = serve('goal');
  const response = await page.goto(serve({status: 302, headers: {location: goal}}));
  return [short(response.url()), response.request().redirectChain().length];
});
plain('back, forward and reload', async ({page}) => {
  const one = serve('<title>1</title>'), two = serve('<title>2</title>');
  await page.goto(one); await page.goto(two);
  await page.goBack(); const back = page.url() === one;
  await page.goForward(); const forward = page.url() === two;
  return [back, forward, (await page.reload()).status()];
});
plain('a click that navigates', async ({page}) => {
  const goal = serve('<title>goal</title>');
  await page.goto(serve(`<a href='${goal}'>go</a>`));
  await Promise.all([page.waitForNavigation(), page.click('a')]);
  return page.url() === goal;
});
plain('history without a document', async ({page}) => {
  await page.goto(serve('x'));
  const [response] = await Promise.all([page.waitForNavigation(), page.evaluate(() => history.pushState({}, '', '/pushed'))]);
  return [response, short(page.url())];
});
check('content that is set', async ({page}) => {
  await page.setContent('<title>set</title><p>text</p>');
  return [await page.title(), await page.$eval('p', p => p.textContent), page.url()];
});
plain('content that is read', async ({page}) => { await page.goto(serve('<p>x</p>')); return page.content(); });
check('a navigation that takes too long', async ({page}) => {
  pages.set('/never', () => ({status: 200, headers: {'content-length': '5'}, text: ''}));
  return (await failure(() => page.goto(`${base}/never`, {timeout: 300}))).slice(0, 20);
});

// --- evaluation and elements -----------------------------------------------------------------------

plain('values of all kinds come back', async ({page}) => page.evaluate(() => [1, 'ü\u{1F600}', null, true, {a: [1]}, -0 === 0]));
plain('arguments go in', async ({page}) => page.evaluate((a, b) => a.x + b, {x: 2}, 3));
plain('errors in pages are errors here', async ({page}) => (await failure(() => page.evaluate(() => { throw new Error('oh'); }))).split('\n')[0]);
plain('handles', async ({page}) => {
  const handle = await page.evaluateHandle(() => ({a: 1, b: 2}));
  const found = [...(await handle.getProperties()).keys()];
  await handle.dispose();
  return found;
});
check('new documents run what they were told', async ({page}) => {
  await page.evaluateOnNewDocument(() => { window.early = 7; });
  await page.goto(serve('<script>window.seen = window.early</script>'));
  return page.evaluate(() => window.seen);
});
check('exposed functions', async ({page}) => {
  await page.exposeFunction('add', (a, b) => a + b);
  await page.goto(serve('x'));
  return page.evaluate(() => window.add(2, 3));
});
check('exposed functions that fail', async ({page}) => {
  await page.exposeFunction('fails', () => { throw new Error('from node'); });
  return page.evaluate(() => window.fails().catch(error => error.message));
});
plain('clicks are trusted', async ({page}) => {
  await page.setContent('<button onclick="window.was = event.isTrusted">b</button>');
  await page.click('button');
  return page.evaluate(() => window.was);
});
plain('typing and keys', async ({page}) => {
  await page.setContent('<input><textarea></textarea>');
  await page.type('input', 'typed');
  await page.focus('textarea');
  await page.keyboard.type('a'); await page.keyboard.press('Enter'); await page.keyboard.type('Ü');
  return page.evaluate(() => [document.querySelector('input').value, document.querySelector('textarea').value]);
});
plain('selecting and hovering', async ({page}) => {
  await page.setContent('<select><option value=a>A<option value=b>B</select><p onmouseover="window.over = 1">p</p>');
  const picked = await page.select('select', 'b');
  await page.hover('p');
  return [picked, await page.evaluate(() => window.over)];
});
plain('the mouse by coordinates', async ({page}) => {
  await page.setContent('<script>onmousedown = e => { window.at = [e.clientX, e.clientY, e.button]; }</script>');
  await page.mouse.click(30, 40, {button: 'right'});
  return page.evaluate(() => window.at);
});
plain('the wheel scrolls', async ({page}) => {
  await page.setContent('<div style="height: 5000px"></div>');
  await page.mouse.move(50, 50);
  await page.mouse.wheel({deltaY: 300});
  await page.waitForFunction(() => scrollY > 0);
  return page.evaluate(() => scrollY);
});
check('touch', async ({page}) => {
  await page.setContent('<button ontouchstart="window.touched = 1">b</button>');
  await page.tap('button');
  return page.evaluate(() => window.touched);
});
plain('locators wait and fill', async ({page}) => {
  await page.setContent('<script>setTimeout(() => document.body.innerHTML = "<input>", 50)</script>');
  await page.locator('input').fill('later');
  return page.$eval('input', input => input.value);
});
plain('selectors of all kinds', async ({page}) => {
  await page.setContent('<div><button aria-label="Save">text here</button></div>');
  return [(await page.$$('button')).length, (await page.$$('::-p-text(text here)')).length, (await page.$$('::-p-aria(Save)')).length, (await page.$$('::-p-xpath(//button)')).length];
});
plain('what does not come in time', async ({page}) => (await failure(() => page.waitForSelector('#no', {timeout: 100}))).slice(0, 30));
plain('boxes', async ({page}) => {
  await page.setContent('<div style="position:absolute;left:10px;top:20px;width:30px;height:40px"></div>');
  return (await page.$('div')).boundingBox();
});
plain('the accessibility tree', async ({page}) => {
  await page.setContent('<button>Save</button><input aria-label=Name>');
  const tree = await page.accessibility.snapshot();
  return tree.children.map(one => [one.role, one.name]);
});

// --- frames ----------------------------------------------------------------------------------------

plain('frames of the same site', async ({page}) => {
  const inner = serve('<p>inner</p>');
  await page.goto(serve(`<iframe name=f src='${inner}'></iframe>`));
  const frame = page.frames()[1];
  return [page.frames().length, frame.parentFrame() === page.mainFrame(), await frame.$eval('p', p => p.textContent)];
});
plain('frames of another site are in another process', async ({page}) => {
  const inner = serve('<p>far</p><button onclick="document.title = \'clicked\'">b</button>').replace(base, other);
  await page.goto(serve(`<iframe src='${inner}'></iframe>`));
  const frame = await page.waitForFrame(frame => frame.url() === inner);
  const button = await frame.waitForSelector('button');
  // Until Chromium knows where it draws the frame, it routes a press there to the page around the frame.
  for (let tries = 0; tries < 20 && await frame.title() !== 'clicked'; tries++) await button.click();
  return [await frame.$eval('p', p => p.textContent), await frame.title(), short(frame.url())];
});
plain('a frame moves to another site', async ({page}) => {
  const near = serve('<p>near</p>'), far = serve('<p>far</p>').replace(base, other);
  await page.goto(serve(`<iframe src='${near}'></iframe>`));
  await page.frames()[1].goto(far);
  return page.frames()[1].$eval('p', p => p.textContent);
});
plain('frames within frames across sites', async ({page}) => {
  const deepest = serve('<p>deep</p>'), middle = serve(`<iframe src='${deepest}'></iframe>`).replace(base, other);
  await page.goto(serve(`<iframe src='${middle}'></iframe>`));
  const frame = await page.waitForFrame(frame => frame.url() === deepest);
  return (await frame.waitForSelector('p')).evaluate(p => p.textContent);
});
plain('a frame that goes', async ({page}) => {
  await page.goto(serve(`<iframe src='${serve('x')}'></iframe>`));
  const gone = once(page, 'framedetached');
  await page.$eval('iframe', frame => frame.remove());
  await gone;
  return page.frames().length;
});

// --- popups and targets ----------------------------------------------------------------------------

apart('window.open makes a popup', async ({page, context}) => {
  const goal = serve({text: '<title>pop</title>'});
  await page.goto(serve(`<button onclick="window.open('${goal}')">b</button>`));
  const came = once(page, 'popup');
  await page.click('button');
  const popup = await came;
  await popup.waitForFunction(() => document.title === 'pop', {polling: 50});
  return [popup.url() === goal, (await context.pages()).length, popup.target().opener() === page.target()];
});
apart('a popup without opener', async ({page, context}) => {
  const goal = serve({text: '<title>pop</title>'});
  await page.goto(serve(`<a target=_blank rel=noopener href='${goal}'>b</a>`));
  const came = context.waitForTarget(target => target.url() === goal);
  await page.click('a');
  const popup = await (await came).page();
  await popup.waitForFunction(() => document.title === 'pop', {polling: 50});
  return popup.evaluate(() => window.opener === null);
});
apart('a popup that closes itself', async ({page, context}) => {
  await page.goto(serve('<button onclick="window.w = window.open(\'about:blank\')">b</button>'));
  const came = once(page, 'popup');
  await page.click('button');
  const popup = await came, closed = once(popup, 'close');
  await page.evaluate(() => window.w.close());
  await closed;
  return (await context.pages()).length;
});
apart('targets are told', async ({context}) => {
  const seen = [];
  const created = once(context, 'targetcreated').then(target => seen.push(['created', target.type()]));
  const page = await context.newPage();
  await created;
  const gone = once(context, 'targetdestroyed').then(target => seen.push(['destroyed', target.type()]));
  await page.close();
  await gone;
  return seen;
});
apart('a tab of a context is no other context\'s', async ({page, browser}) => {
  const fresh = await browser.createBrowserContext();
  const before = (await fresh.pages()).length;
  const own = await fresh.newPage();
  const seen = [before, (await fresh.pages()).length, own.browserContext() === fresh, page.browserContext() === fresh];
  await fresh.close();
  return seen;
});

// --- workers ---------------------------------------------------------------------------------------

check('a worker', async ({page}) => {
  const at = script('self.x = 5');
  const came = once(page, 'workercreated');
  await page.goto(serve(`<script>window.w = new Worker('${at}')</script>`));
  const worker = await came;
  const x = await soon(() => worker.evaluate(() => self.x)); // told of before its script has run
  return [short(worker.url()), x, page.workers().length];
});
check('a worker that ends', async ({page}) => {
  const came = once(page, 'workercreated');
  await page.goto(serve(`<script>window.w = new Worker('${script('1')}')</script>`));
  await came;
  const gone = once(page, 'workerdestroyed');
  await page.evaluate(() => window.w.terminate());
  await gone;
  return page.workers().length;
});
apart('a service worker', async ({page, context}) => {
  const at = script("self.x = 9; onfetch = e => { if (e.request.url.endsWith('/from-sw')) e.respondWith(new Response('sw')); }; onactivate = e => e.waitUntil(clients.claim())", '/sw.js');
  const came = context.waitForTarget(target => target.type() === 'service_worker');
  await page.goto(serve('x'));
  await page.evaluate(async at => { await navigator.serviceWorker.register(at); await navigator.serviceWorker.ready; }, at);
  const worker = await (await came).worker();
  await page.waitForFunction(() => navigator.serviceWorker.controller);
  return [await worker.evaluate(() => self.x), await page.evaluate(() => fetch('/from-sw').then(r => r.text()))];
});
apart('a shared worker', async ({page, context}) => {
  const at = script('onconnect = e => e.ports[0].postMessage(3)');
  const came = context.waitForTarget(target => target.type() === 'shared_worker');
  await page.goto(serve(`<script>window.w = new SharedWorker('${at}'); w.port.onmessage = e => window.got = e.data</script>`));
  await page.waitForFunction(() => window.got);
  return [(await came).type(), await page.evaluate(() => window.got)];
});

// --- dialogs, console, errors ----------------------------------------------------------------------

for (const [kind, accept] of [['alert', true], ['confirm', true], ['confirm', false], ['prompt', true], ['beforeunload', true]]) {
  check(`a dialog: ${kind} ${accept ? 'accepted' : 'dismissed'}`, async ({page}) => {
    await page.goto(serve('<button>b</button>'));
    const seen = [];
    page.on('dialog', async dialog => {
      seen.push(dialog.type(), dialog.message(), dialog.defaultValue());
      await (accept ? dialog.accept(kind === 'prompt' ? 'said' : undefined) : dialog.dismiss());
    });
    if (kind === 'beforeunload') {
      await page.evaluate(() => { onbeforeunload = e => e.preventDefault(); });
      await page.click('button');
      await page.close({runBeforeUnload: true});
      if (!page.isClosed()) await once(page, 'close');
      return [seen, page.isClosed()];
    }
    return [await page.evaluate(kind => window[kind]('text', 'default') ?? null, kind), seen];
  });
}
check('the console', async ({page}) => {
  const said = [];
  page.on('console', async message => { said.push([message.type(), message.text(), message.args().length]); });
  await page.evaluate(() => { console.log('a', 1, {b: 2}); console.warn('w'); console.error('e'); });
  return said;
});
check('errors nobody caught', async ({page}) => {
  const came = once(page, 'pageerror');
  await page.goto(serve('<script>setTimeout(() => { throw new Error("uncaught") })</script>'));
  return (await came).message;
});
plain('metrics', async ({page}) => { await page.goto(serve('x')); return Object.keys(await page.metrics()).sort(); });

// --- files -----------------------------------------------------------------------------------------

check('a file is uploaded', async ({page}) => {
  const file = path.join(folder, 'up.txt');
  fs.writeFileSync(file, 'content');
  await page.setContent('<input type=file>');
  await (await page.$('input')).uploadFile(file);
  return page.$eval('input', async input => [input.files[0].name, await input.files[0].text()]);
});
check('a file is chosen', async ({page}) => {
  const file = path.join(folder, 'choose.txt');
  fs.writeFileSync(file, 'chosen');
  await page.setContent('<input type=file multiple>');
  const [chooser] = await Promise.all([page.waitForFileChooser(), page.click('input')]);
  await chooser.accept([file]);
  return [chooser.isMultiple(), await page.$eval('input', input => input.files[0].text())];
});
apart('a download', async ({page, context, browser}) => {
  const into = fs.mkdtempSync(path.join(folder, 'down-'));
  const cdp = await browser.target().createCDPSession();
  await cdp.send('Browser.setDownloadBehavior', {behavior: 'allow', downloadPath: into, browserContextId: context.id, eventsEnabled: true});
  const began = once(cdp, 'Browser.downloadWillBegin');
  const done = new Promise(resolve => cdp.on('Browser.downloadProgress', told => told.state === 'completed' && resolve(told)));
  await page.goto(serve(`<a href='${serve({headers: {'content-disposition': 'attachment; filename="d.txt"'}, text: 'down'})}'>d</a>`));
  await page.click('a');
  const told = [(await began).suggestedFilename, (await done).receivedBytes];
  await cdp.detach();
  return [...told, fs.readFileSync(path.join(into, 'd.txt'), 'utf8')];
});
apart('a screenshot', async ({page}) => {
  await page.setViewport({width: 300, height: 200});
  await page.setContent('<body style="background: red">');
  const shot = Buffer.from(await page.screenshot());
  return [shot.subarray(1, 4).toString(), shot.readUInt32BE(16), shot.readUInt32BE(20)];
});
apart('a screenshot of all of it', async ({page}) => {
  await page.setViewport({width: 300, height: 200});
  await page.setContent('<body style="margin: 0"><div style="height: 1234px"></div>');
  return Buffer.from(await page.screenshot({fullPage: true})).readUInt32BE(20);
});
apart('a screenshot of an element and a clip', async ({page}) => {
  await page.setContent('<div style="width: 50px; height: 60px; background: blue"></div>');
  const element = Buffer.from(await (await page.$('div')).screenshot());
  const clip = Buffer.from(await page.screenshot({clip: {x: 0, y: 0, width: 20, height: 10}}));
  return [element.readUInt32BE(16), element.readUInt32BE(20), clip.readUInt32BE(16), clip.readUInt32BE(20)];
});
apart('a jpeg', async ({page}) => { await page.setContent('x'); return (await page.screenshot({type: 'jpeg', quality: 50, encoding: 'base64'})).slice(0, 4); });
apart('a pdf', async ({page}) => { await page.setContent('x'); return Buffer.from(await page.pdf({format: 'A4'})).subarray(0, 5).toString(); });

// --- the network -----------------------------------------------------------------------------------

check('requests are seen', async ({page}) => {
  const seen = [];
  page.on('request', request => seen.push([request.method(), request.resourceType(), request.isNavigationRequest()]));
  serve('answer', '/seen');
  await page.goto(serve("<script>window.done = fetch('/seen', {method: 'POST', body: 'b'})</script>"));
  await page.evaluate(() => window.done);
  return seen;
});
check('responses are read', async ({page}) => {
  const at = serve({headers: {'content-type': 'application/json', 'x-own': '1'}, text: '{"a": 1}'}, '/json-answer');
  await page.goto(serve('x'));
  const [response] = await Promise.all([page.waitForResponse(at), page.evaluate(at => fetch(at).then(r => r.json()), at)]);
  return [await response.json(), response.headers()['x-own'], response.request().method()];
});
check('requests that fail', async ({page}) => {
  await page.goto(serve('x'));
  const [failed] = await Promise.all([once(page, 'requestfailed'), page.evaluate(() => fetch('http://127.0.0.1:9/').catch(() => {}))]);
  return failed.failure().errorText;
});
for (const [what, answer] of [
  ['answered', request => request.respond({status: 201, contentType: 'text/plain', body: 'made', headers: {'x-own': '2'}})],
  ['aborted', request => request.abort('failed')],
  ['changed', request => request.continue({method: 'POST', postData: 'put in', headers: {...request.headers(), 'x-put': '3'}})],
]) {
  check(`an intercepted request is ${what}`, async ({page}) => {
    serve(({request, body}) => ({text: `${request.method} ${body} ${request.headers['x-put'] ?? ''}`}), '/route-me');
    await page.goto(serve('x'));
    await page.setRequestInterception(true);
    page.on('request', request => request.url().endsWith('/route-me') ? answer(request) : request.continue());
    return page.evaluate(() => fetch('/route-me').then(async r => [r.status, await r.text(), r.headers.get('x-own')]).catch(() => 'failed'));
  });
}
check('interception holds in frames of another site', async ({page}) => {
  await page.setRequestInterception(true);
  page.on('request', request => request.url().endsWith('/far-api') ? request.respond({body: 'made', headers: {'access-control-allow-origin': '*'}}) : request.continue());
  const inner = serve("<script>fetch('/far-api').then(r => r.text()).then(t => document.title = t)</script>").replace(base, other);
  await page.goto(serve(`<iframe src='${inner}'></iframe>`));
  const frame = await page.waitForFrame(frame => frame.url() === inner);
  await frame.waitForFunction(() => document.title === 'made');
  return frame.title();
});
check('headers of one\'s own', async ({page}) => {
  await page.setExtraHTTPHeaders({'x-extra': 'yes'});
  await page.goto(serve(({request}) => ({text: request.headers['x-extra'] ?? 'none'})));
  return page.$eval('body', body => body.textContent);
});
check('offline', async ({page}) => {
  await page.goto(serve('x'));
  await page.setOfflineMode(true);
  const off = await page.evaluate(() => [navigator.onLine, fetch('/').catch(() => 'failed')].length && fetch('/').then(() => 'ok', () => 'failed'));
  await page.setOfflineMode(false);
  return [off, await page.evaluate(() => fetch('/').then(() => 'ok', () => 'failed'))];
});
check('the cache can be off', async ({page}) => { await page.setCacheEnabled(false); return (await page.goto(serve('x'))).fromCache(); });
check('a web page that asks for a password', async ({page}) => {
  const at = serve(({request}) => request.headers.authorization ? {text: request.headers.authorization} : {status: 401, headers: {'www-authenticate': 'Basic realm=r'}, text: 'out'});
  const seen = [];
  page.on('request', request => seen.push(request.redirectChain().length));
  await page.authenticate({username: 'u', password: 'p'});
  const response = await page.goto(at);
  return [response.status(), await page.$eval('body', body => body.textContent), seen];
});
check('a web page that asks for a password, as a header', async ({page}) => {
  const at = serve(({request}) => request.headers.authorization ? {text: 'in'} : {status: 401, headers: {'www-authenticate': 'Basic realm=r'}, text: 'out'});
  await page.setExtraHTTPHeaders({authorization: 'Basic ' + Buffer.from('u:p').toString('base64')});
  await page.goto(at);
  return page.$eval('body', body => body.textContent);
});

// --- cookies and storage ---------------------------------------------------------------------------

const shown = cookies => cookies.map(one => [one.name, one.value, one.httpOnly, one.session]).sort();
apart('cookies of a context', async ({page, context}) => {
  await page.goto(serve({headers: {'set-cookie': 'a=1; HttpOnly'}, text: 'x'}));
  await context.setCookie({name: 'b', value: '2', domain: '127.0.0.1'});
  const both = shown(await context.cookies());
  await context.deleteCookie(...(await context.cookies()).filter(one => one.name === 'a'));
  return [both, shown(await context.cookies()), await page.evaluate(() => document.cookie)];
});
apart('cookies of one context are not another\'s', async ({page, context, browser}) => {
  await context.setCookie({name: 'mine', value: '1', domain: '127.0.0.1'});
  const fresh = await browser.createBrowserContext(), own = await fresh.newPage();
  await own.goto(serve('x'));
  const seen = [(await fresh.cookies()).length, await own.evaluate(() => document.cookie)];
  await fresh.close();
  return seen;
});
apart('cookies are sent', async ({page, context}) => {
  await context.setCookie({name: 'sent', value: 'yes', domain: '127.0.0.1'});
  await page.goto(serve(({request}) => ({text: request.headers.cookie ?? 'none'})));
  return page.$eval('body', body => body.textContent);
});
apart('storage is the context\'s', async ({page, browser}) => {
  const at = serve('x');
  await page.goto(at);
  await page.evaluate(() => { localStorage.setItem('k', 'v'); sessionStorage.setItem('s', '1'); });
  await page.reload();
  const fresh = await browser.createBrowserContext(), own = await fresh.newPage();
  await own.goto(at);
  const seen = [await page.evaluate(() => localStorage.k + sessionStorage.s), await own.evaluate(() => localStorage.length)];
  await fresh.close();
  return seen;
});
apart('indexed databases', async ({page}) => {
  await page.goto(serve('x'));
  return page.evaluate(() => new Promise(resolve => { const open = indexedDB.open('d'); open.onsuccess = () => indexedDB.databases().then(all => resolve(all.map(one => one.name))); }));
});
apart('permissions', async ({page, context}) => {
  await page.goto(serve('x'));
  const asked = () => page.evaluate(() => navigator.permissions.query({name: 'geolocation'}).then(r => r.state));
  await context.overridePermissions(base, ['geolocation']);
  const granted = await asked();
  await page.setGeolocation({latitude: 10, longitude: 20});
  const where = await page.evaluate(() => new Promise(resolve => navigator.geolocation.getCurrentPosition(p => resolve([p.coords.latitude, p.coords.longitude]))));
  await context.clearPermissionOverrides();
  return [granted, where];
});

// --- emulation -------------------------------------------------------------------------------------

check('a device', async ({page}) => {
  await page.emulate(KnownDevices['iPhone 6']);
  await page.goto(serve('<meta name=viewport content="width=device-width">'));
  return page.evaluate(() => [innerWidth, devicePixelRatio, navigator.userAgent.includes('iPhone'), 'ontouchstart' in window]);
});
check('a viewport', async ({page}) => { await page.setViewport({width: 432, height: 321}); return page.evaluate(() => [innerWidth, innerHeight]); });
check('media and colours', async ({page}) => {
  await page.emulateMediaType('print');
  await page.emulateMediaFeatures([{name: 'prefers-color-scheme', value: 'dark'}]);
  return page.evaluate(() => [matchMedia('print').matches, matchMedia('(prefers-color-scheme: dark)').matches]);
});
check('a time zone', async ({page}) => { await page.emulateTimezone('Asia/Tokyo'); return page.evaluate(() => new Date(0).getHours()); });
check('a user agent', async ({page}) => { await page.setUserAgent({userAgent: 'Own/1'}); await page.goto(serve('x')); return page.evaluate(() => navigator.userAgent); });
check('no scripts', async ({page}) => { await page.setJavaScriptEnabled(false); await page.goto(serve('<title>a</title><script>document.title = "b"</script>')); return page.title(); });
check('content security can be passed over', async ({page}) => {
  await page.setBypassCSP(true);
  await page.goto(serve({headers: {'content-security-policy': "script-src 'none'"}, text: '<body>x'}));
  await page.addScriptTag({content: 'window.ran = 1'});
  return page.evaluate(() => window.ran);
});
check('coverage', async ({page}) => {
  await page.coverage.startJSCoverage();
  await page.goto(serve(`<script src='${script('function used() {} used(); function unused() {}')}'></script>`));
  return (await page.coverage.stopJSCoverage()).length;
});

// --- the protocol, the browser, closing ------------------------------------------------------------

check('a protocol session of one\'s own', async ({page}) => {
  const cdp = await page.createCDPSession();
  const value = (await cdp.send('Runtime.evaluate', {expression: '6 * 7'})).result.value;
  const wrong = await failure(() => cdp.send('No.such'));
  await cdp.detach();
  return [value, wrong, await failure(() => cdp.send('Runtime.enable'))];
});
check('what is said after the end', async ({page}) => { await page.close(); return [page.isClosed(), await failure(() => page.evaluate(() => 1))]; });
check('what is under way when a page closes', async ({page}) => {
  const waiting = failure(() => page.evaluate(() => new Promise(() => {})));
  await page.evaluate(() => 1);
  await page.close();
  return waiting;
});
apart('a page that crashes', async ({page, context}) => {
  const came = once(page, 'error');
  page.goto('chrome://crash').catch(() => {});
  const cdp = await page.createCDPSession();
  cdp.send('Page.crash').catch(() => {});
  const said = (await came).message;
  return [said, await (await context.newPage()).evaluate(() => 1)];
});
apart('a context that closes takes its pages', async ({browser}) => {
  const fresh = await browser.createBrowserContext(), pages = [await fresh.newPage(), await fresh.newPage()];
  await Promise.all([...pages.map(page => once(page, 'close')), fresh.close()]);
  return [pages.map(page => page.isClosed()), browser.browserContexts().includes(fresh)];
});
apart('the browser says what it is', async ({browser}) => [(await browser.version()).split('/')[0], (await browser.userAgent()).includes('Chrome'), browser.connected]);
apart('many pages at once', async ({context}) => {
  const at = serve('<title>many</title>');
  const pages = await Promise.all([1, 2, 3].map(() => context.newPage()));
  await Promise.all(pages.map(page => page.goto(at)));
  const titles = await Promise.all(pages.map(page => page.title()));
  await Promise.all(pages.map(page => page.close()));
  return titles;
});
check('bringing a page to the front', async ({page}) => { await page.bringToFront(); return page.evaluate(() => document.visibilityState); });
check('a second connection sees the same pages', async ({page}) => {
  await page.goto(serve('<title>both</title>'));
  const fellow = await puppeteer.connect(JSON.parse(how));
  const titles = await Promise.all((await fellow.pages()).map(one => one.title().catch(() => '')));
  await fellow.disconnect();
  return [titles.filter(title => title === 'both').length, await page.title()];
});

// --- all of them -----------------------------------------------------------------------------------

const browser = await puppeteer.connect(JSON.parse(how));
const together = await browser.createBrowserContext();
const stays = await together.newPage(); // the plain checks'; and a window ends with its last page
const rest = async () => {
  const others = (await together.pages()).filter(page => page !== stays);
  await Promise.all(others.map(page => page.close().catch(() => {})));
};
const seen = {};
const blank = serve('');
for (const [name, {work, isApart, isPlain}] of Object.entries(checks)) {
  const context = isApart ? await browser.createBrowserContext() : together;
  const place = {browser, context, page: isPlain ? stays : await context.newPage()};
  if (isPlain) await stays.goto(blank);
  let timer;
  const late = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error('too late')), CHECK_MS); });
  try {
    seen[name] = {saw: (await Promise.race([work(place), late])) ?? null};
  } catch (error) {
    seen[name] = {failed: error.message};
  }
  clearTimeout(timer);
  const end = isApart ? context.close().catch(() => {}) : rest();
  await Promise.race([end, new Promise(resolve => setTimeout(resolve, 5000).unref())]);
}
await browser.disconnect();
console.log(JSON.stringify(seen));
process.exit(0);
