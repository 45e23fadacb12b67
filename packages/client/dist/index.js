// src/errors.ts
var TrunklineError = class extends Error {
  name = "TrunklineError";
  /** The HTTP status; null if there was no answer. */
  status = null;
  /** Names the request in the logs of the service. */
  requestId = null;
  /** The fields or parameters that are wrong. */
  details = [];
  /** The order that the error is about, where the service named one. */
  orderId = null;
  /** The id under which the call placed an order, or tried to. */
  clOrderId = null;
  /** With `cl_order_id_taken` and `outcome_unknown`: the order that was found under the id. */
  order = null;
  /** What `cancelAll` had done by then. */
  results = [];
  /** How long the service asks to wait. */
  retryAfterMs = null;
  /** Nothing was stored or sent: no request of the call left, or the service refused each before it did anything. */
  nothingDone = false;
  /** The very same request may succeed later, and does nothing twice. */
  retrySafe = false;
  constructor(code, message, known = {}) {
    super(message);
    Object.assign(this, known, { code });
  }
};

// src/generated/openapi.ts
var listConnections = "/connections []";
var listPlatformConnections = "/platform/connections data[]";
var listAccounts = "/accounts []";
var listBalances = "/balances []";
var listPositions = "/positions []";
var listTransactions = "/transactions [] link";
var placeOrder = "+/orders order_id";
var listOrders = "/orders data[]";
var previewOrder = "+/orders/preview account_id";
var readOrder = "/orders/{order}";
var modifyOrder = "~/accounts/{account}/orders/{order}";
var cancelOrder = "-/accounts/{account}/orders/{order}";
var cancelOrders = "+/orders/cancel results[]";
var listEvents = "/events data[] next_after";
var listBrokers = "/brokers []";
var USERS = "/users|create+ user_id|list data[]|delete-/{user}|rotateSecret!+/{user}/rotate-secret";
var CONNECTIONS = "/connections|create+ authorization_url|list []|claim+/{connection}/claim|delete-/{connection}|marketDataToken/{connection}/token access_token";
var MARKET_DATA = "/connections/{connection}/market-data|symbols/symbols symbols[]|expirations/expirations symbol|chain/chain symbol|quote/quote symbol|bars/bars bars[] next_start";
var WEBHOOK_ENDPOINTS = "/webhook-endpoints|create!+ endpoint_id|list []|read/{endpoint}|change~/{endpoint}|delete-/{endpoint}|rotateKeys!+/{endpoint}/rotate-keys|test!+/{endpoint}/test delivery_id|deliveries/{endpoint}/deliveries data[]|delivery/{endpoint}/deliveries/{delivery}|replay!+/{endpoint}/replay";
var ORDER_REFUSALS = /^(400 (body_malformed|(field|header|path)_invalid|order_not_open|order_not_supported)|401 (credentials_invalid|(entitlement|scope)_missing)|404 (account|order|route)_not_found|405 method_not_allowed|409 (cl_order_id_duplicate|connection_broken)|413 body_too_large|422 query_invalid|431 headers_too_large)$/;

// src/address.ts
function addressOf(text, scheme, allowHttp) {
  if (!URL.canParse(text)) return text ? "no address" : "nothing";
  const url = new URL(text);
  const { protocol, hostname, host } = url;
  const isLocal = allowHttp || /^(localhost|127(\.\d+){3}|\[::1])$/.test(hostname);
  return protocol === `${scheme}s:` || protocol === `${scheme}:` && isLocal ? url : `${protocol}//${host}`;
}

// src/settings.ts
async function notify(hook, notice) {
  try {
    await hook?.(notice);
  } catch {
  }
}
function pause(ms, signal) {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      forget();
      resolve();
    };
    const timer = setTimeout(done, ms);
    const forget = onAbort(signal, done);
    if (signal.aborted) done();
  });
}
function onAbort(signal, run) {
  signal.addEventListener("abort", run);
  return () => signal.removeEventListener("abort", run);
}
function checkedBase({ baseUrl, allowHttp }) {
  const url = addressOf(baseUrl, "http", allowHttp);
  if (typeof url === "string")
    throw invalid(`baseUrl must be https://…, or http:// of this machine, and was ${url}: allowHttp permits http://`);
  const { href } = url;
  if (/[@?#]/.test(href)) throw invalid("baseUrl must be an address without credentials, query and fragment: remove what has @, ? or #");
  return href.replace(/\/+$/, "");
}
function headersOf({ clientId, clientSecret }, user) {
  const headers = {
    "client-id": clientId,
    "client-secret": clientSecret,
    // Headers are bytes, and the service reads this one as UTF-8.
    ...user && { "user-id": String.fromCharCode(...new TextEncoder().encode(user.userId)), "user-secret": user.userSecret }
  };
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[ -~\x80-\xff]+$/.test(value ?? ""))
      throw invalid(`${name} must be as the service issued it, and ${value ? "has another character" : "is missing"}`);
  }
  return headers;
}
function invalid(message) {
  return new TrunklineError("setting_invalid", message, { nothingDone: true });
}
function randomId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => (byte + 256).toString(16).slice(1)).join("");
}

// src/answer.ts
var NOTHING_DONE = /^(4(?!0[89]|29).. (?!order_not_open)|429 rate_limited$|503 (store_unavailable|shutting_down)$)/;
function dataOf([status, headers, text], [member, order, sentId, ...secrets], fail) {
  const body = parsed(text);
  if (status >= 200 && status < 300 && hasMember(body, member, order)) return body;
  const { code, message, details, order_id: orderId, request_id: named } = body;
  const requestId = headers.get("x-request-id") ?? sentId;
  const isOurs = status >= 400 && [requestId, sentId].includes(named) && /^application\/json\b/.test(headers.get("content-type") ?? "");
  if (!isOurs || typeof code !== "string")
    throw fail("answer_unreadable", `The answer ${status} is not the service’s: check baseUrl, and what is in between.`, {
      status,
      requestId
    });
  const shown = (value) => secrets.reduce((left, secret) => left.replaceAll(secret || "\0", "[secret]"), String(value));
  throw fail(shown(code), shown(message).slice(0, 2e3), {
    ...{ status, requestId },
    details: isRecords(details) ? details.map(({ path, message: what }) => ({ path: shown(path), message: shown(what) })) : [],
    orderId: typeof orderId === "string" ? orderId : null,
    retryAfterMs: Math.max(0, Number(headers.get("retry-after")) * 1e3) || null,
    nothingDone: NOTHING_DONE.test(`${status} ${code}`)
  });
}
function parsed(text) {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
function hasMember(body, member, order) {
  const name = member.replace("[]", "");
  const value = name ? body[name] : body;
  return name === member ? typeof value === "string" && (order || value) === value : isRecords(value);
}
function isRecords(value) {
  return Array.isArray(value) && value.every((each) => Object(each) === each);
}

// src/composition.ts
function given(values) {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== void 0));
}
function requestOf(operation, params) {
  const [, sign = "", route = "", answered] = /^([-+~]?)(\S+) ?(\S*)/.exec(operation) ?? [];
  let member = answered ?? "";
  const left = given(params);
  const order = sign === "~" ? "" : String(left.order_id ?? "").toLowerCase();
  try {
    const path = route.replace(/{(\w+)}/g, (_, word) => {
      const name = `${word}_id`;
      member = answered || name;
      const value = String(left[name] ?? "");
      delete left[name];
      if (/^\.{0,2}$/.test(value)) throw invalid(`${name} must be given, and was "${value}"`);
      return encodeURIComponent(value);
    });
    if (/[+~]/.test(sign)) return [sign === "+" ? "POST" : "PATCH", path, JSON.stringify(left), member, order];
    const query = String(new URLSearchParams(Object(left)));
    return [sign ? "DELETE" : "GET", path + (query && `?${query}`), null, member, order];
  } catch (cause) {
    throw cause instanceof TrunklineError ? cause : invalid(`a parameter cannot be sent: ${cause}`);
  }
}

// src/meta.ts
function metaOf(status, headers) {
  const count = (name) => Number(headers.get(`ratelimit-${name}`));
  return {
    status,
    requestId: headers.get("x-request-id"),
    freshness: freshnessOf(headers.get("trunkline-freshness") ?? ""),
    rateLimit: headers.has("ratelimit-limit") ? { limit: count("limit"), remaining: count("remaining"), resetSeconds: count("reset") } : null,
    headers
  };
}
function freshnessOf(header) {
  return [...header.matchAll(/"?([\w-]+|\*)"?;([^,]*)/g)].map(([, accountId = "", rest]) => {
    const of = (name) => new RegExp(`\\b${name}="?([^";]+)`).exec(rest ?? "")?.[1] ?? null;
    return { accountId, confirmed: of("confirmed"), state: of("state") ?? "", reason: of("reason"), more: Number(of("more")) };
  });
}

// src/request.ts
var ANSWER_BYTES_MAX = 2 ** 25;
async function request(send, url, init, timeoutMs, signal, fail) {
  if (signal.aborted) throw fail("aborted", ABORTED, { nothingDone: true });
  const over = new AbortController();
  const end = () => over.abort();
  const forget = onAbort(signal, end);
  const answered = async () => wholeOf(await send(url, { ...init, redirect: "manual", credentials: "omit", cache: "no-store", signal: over.signal }), fail);
  try {
    const raw = await Promise.race([answered(), pause(timeoutMs, over.signal)]);
    if (raw) return raw;
    throw fail("timed_out", `No whole answer within ${timeoutMs} ms.`);
  } catch (cause) {
    if (signal.aborted) throw fail("aborted", ABORTED);
    if (cause instanceof TrunklineError) throw cause;
    const { code, cause: inner } = Object(cause);
    const reason = [code, Object(inner).code].find((each) => /^[A-Z_0-9]+$/.test(each)) ?? "unknown";
    const nothingDone = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN)$/.test(reason);
    throw fail("connection_failed", `No connection with ${new URL(url).host}: ${reason}.`, { nothingDone });
  } finally {
    forget();
    end();
  }
}
var ABORTED = "The call was aborted.";
async function wholeOf({ status, headers, body }, fail) {
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (let bytes = 0; ; ) {
    const { value } = await reader?.read() ?? {};
    if (!value) return [status, headers, text];
    bytes += value.length;
    if (bytes > ANSWER_BYTES_MAX) {
      void reader?.cancel().catch(() => void 0);
      throw fail("answer_unreadable", `The answer is longer than ${ANSWER_BYTES_MAX} bytes: ask for less.`, { status });
    }
    text += decoder.decode(value, { stream: true });
  }
}

// src/exchange.ts
var TIMER_MS_MAX = 2 ** 31 - 1;
function begin({ base, headers, clock, options }, more = {}) {
  const { now, random, sleep } = clock;
  const { requestId: id = randomId(), signal = new AbortController().signal } = more;
  const { timeoutMs = 3e4, totalTimeoutMs = 9e4, retries = 3, hooks = {} } = { ...options, ...given(more) };
  const deadline = now() + totalTimeoutMs;
  let attempt = 0;
  let failures = 0;
  let isClean = true;
  return {
    clock,
    renew: () => {
      failures = 0;
    },
    async attempt(operation, params, isRepeatable) {
      for (const [name, value] of Object.entries({ timeoutMs, totalTimeoutMs, retries }))
        if (!(value > 0 || value === 0 && name === "retries")) throw invalid(`${name} must be a positive number, and was ${value}`);
      if (!/^[a-z\d][\w.:-]{0,59}$/i.test(id))
        throw invalid(`requestId must be at most 60 of A–Z a–z 0–9 . _ : -, and was "${String(id).slice(0, 61)}"`);
      const [method, path, body, member, order] = requestOf(operation, params);
      const requestId = `${id}.${++attempt}`;
      const notice = { method, path, requestId, attempt };
      const fail = (code, message, known = {}) => {
        const { status, nothingDone = false } = known;
        isClean &&= nothingDone;
        const isRefusal = (code === "answer_unreadable" ? /^[03]/ : /^4(?!08|29)/).test(String(status));
        return new TrunklineError(code, message, {
          ...{ requestId, ...known },
          nothingDone: isClean,
          retrySafe: !isRefusal && (isRepeatable || nothingDone)
        });
      };
      const startedAt = now();
      const leftMs = Math.ceil(Math.max(1, Math.min(timeoutMs, deadline - startedAt, TIMER_MS_MAX)));
      const init = { method, body, headers: { ...headers, "x-request-id": requestId, ...body && { "content-type": "application/json" } } };
      void notify(hooks.onRequest, notice);
      const raw = await request(options.fetch ?? fetch, base + path, init, leftMs, signal, fail);
      const meta = metaOf(raw[0], raw[1]);
      const date = Date.parse(meta.headers.get("date") ?? "");
      if (date && meta.requestId === requestId) clock.skewMs = date - now();
      void notify(hooks.onResponse, { ...notice, meta, ms: now() - startedAt });
      const data = dataOf(raw, [member, order, requestId, headers["client-secret"], headers["user-secret"]], fail);
      isClean = false;
      return { data, meta };
    },
    async pause(error, most = retries) {
      const waitMs = random() * Math.min(8e3, 250 * 2 ** failures++) + (error.retryAfterMs ?? 0);
      if (failures > most || now() + waitMs >= deadline || error.code === "aborted") throw error;
      void notify(hooks.onRetry, { attempt, waitMs, error });
      await sleep(Math.min(waitMs, TIMER_MS_MAX), signal);
      if (signal.aborted) throw new TrunklineError("aborted", ABORTED, { requestId: error.requestId, nothingDone: isClean });
    }
  };
}

// src/pages.ts
function pagesOf(next, query, read) {
  const member = query.prev_cursor ? "prev_cursor" : next;
  const parameter = { next_after: "after", next_start: "start", link: "cursor" }[member] ?? member;
  async function* pages() {
    let from;
    let mark;
    for (let count = 1; ; count += 1) {
      const { data: answer, meta } = await read(from ? { ...query, [parameter]: from } : query);
      const whole = Object(answer);
      yield { data: whole.data ?? whole.bars ?? answer, answer, meta };
      const [link] = /(?<=[?&])cursor=[^&>]+/.exec(meta.headers.get("link") ?? "") ?? [];
      const following = member === "link" ? new URLSearchParams(link).get("cursor") : whole[member];
      if (!following) return;
      if (following === mark)
        throw new TrunklineError("answer_unreadable", "The list leads back to a page before: something in between repeats old answers.");
      from = following;
      if (!(count & count - 1)) mark = from;
    }
  }
  async function* items() {
    for await (const { data } of pages()) yield* data;
  }
  return {
    pages,
    [Symbol.asyncIterator]: items,
    async toArray(bound = Object()) {
      const { limit } = bound;
      if (!(limit >= 0)) throw invalid(`toArray needs how many at most, such as { limit: 1000 }, and was given ${limit}`);
      const found = [];
      if (limit > 0) {
        for await (const item of items()) if (found.push(item) >= limit) break;
      }
      return found;
    }
  };
}

// src/transport.ts
function transportOf(options = Object(), user = null, clock = { now: options.now ?? Date.now, random: options.random ?? Math.random, sleep: options.sleep ?? pause, skewMs: 0 }) {
  const base = checkedBase(options);
  const headers = headersOf(options, user);
  return {
    asUser: (other) => transportOf(options, Object(other), clock),
    begin: (more) => begin({ base, headers, clock, options }, more)
  };
}
async function repeated(exchange, operation, params, afterLoss = () => void 0, isRepeatable = true) {
  let wasLost = false;
  for (; ; ) {
    try {
      return await exchange.attempt(operation, params, isRepeatable);
    } catch (error) {
      if (!(error instanceof TrunklineError)) throw error;
      const found = wasLost && afterLoss(error, exchange, params);
      if (found) return found;
      if (!error.retrySafe) throw error;
      wasLost ||= !error.nothingDone;
      await exchange.pause(error);
    }
  }
}
function callOf(answer) {
  const data = answer.then((each) => each.data);
  return Object.assign(data, {
    withMeta: () => {
      data.catch(() => void 0);
      return answer;
    }
  });
}
function calling(transport, operation, afterLoss, isRepeatable) {
  return Object(
    (params = Object(), options) => callOf(repeated(transport.begin(options), operation, params, afterLoss, isRepeatable))
  );
}
function listing(transport, operation, check) {
  return Object(
    (params = {}, options) => pagesOf(operation.split(" ")[2] ?? "next_cursor", Object(params), async (query) => {
      const answer = await repeated(transport.begin(options), operation, Object(query));
      check?.(Object(query), answer.data);
      return answer;
    })
  );
}
function resourceOf(transport, resource, afterLosses = {}) {
  const [base, ...rows] = resource.split("|");
  const after = Object(afterLosses);
  return Object(
    Object.fromEntries(
      rows.map((row) => {
        const [, name = "", once, sign, rest] = /(\w+)(!?)([-+~]?)(.*)/.exec(row) ?? [];
        const operation = `${sign}${base}${rest}`;
        return [name, /a\[]|] ./.test(operation) ? listing(transport, operation) : calling(transport, operation, after[name], !once)];
      })
    )
  );
}
function doneIf(doneCode, name) {
  return ({ code, status, requestId }, _exchange, params) => code === doneCode ? { data: Object({ [name]: Object(params)[name] }), meta: { ...metaOf(status ?? 0, new Headers()), requestId } } : void 0;
}

// src/orders/cancel-all.ts
async function cancelAll(exchange, scope) {
  const last = /* @__PURE__ */ new Map();
  try {
    for (; ; ) {
      const { data, meta } = await repeated(exchange, cancelOrders, scope);
      const { results, remaining } = data;
      const isStep = results.some(({ order_id, result }) => /^(cancelled|requested)$/.test(result) && last.get(order_id)?.result !== result);
      for (const result of results) last.set(result.order_id, result);
      const answer = { data: { ...data, results: [...last.values()] }, meta };
      if (remaining === 0 && !results.some(({ result }) => /^(not_attempted|failed)$/.test(result))) return answer;
      if (isStep) exchange.renew();
      const left = new TrunklineError("timed_out", "Some orders are left.");
      try {
        await exchange.pause(left);
      } catch (error) {
        if (error !== left) throw error;
        return answer;
      }
    }
  } catch (error) {
    throw error instanceof TrunklineError ? new TrunklineError(error.code, error.message, { ...error, results: [...last.values()] }) : error;
  }
}

// src/orders/terms.ts
var SUBJECT = "account_id broker side order_tif symbol order_notional legs instrument replaces_order_id";
var TERMS = "order_type order_qty order_limit_price stop_price";
function matched(asked, order) {
  const wanted = Object(asked);
  const found = Object(order);
  const differs = (names) => names.split(" ").some((name) => (wanted[name] ?? null) !== null && plain(wanted[name]) !== plain(found[name]));
  if (differs(SUBJECT)) return "other";
  if (!differs(TERMS)) return "same";
  return order.revision > 1 ? "unsure" : "other";
}
function plain(value) {
  if (Array.isArray(value)) return value.map(({ symbol, action, ratio }) => plain(symbol) + action + ratio).join();
  const text = String(value ?? "").replaceAll(" ", "").toLowerCase();
  return /^-?\d+\.\d+$/.test(text) ? text.replace(/\.?0+$/, "") : text;
}

// src/orders/trading-day.ts
var CLOCKS_APART_MS = 15 * 6e4;
function mayDiffer(fromMs, toMs) {
  const day = new Intl.DateTimeFormat("en-CA", { timeZone: "America/New_York" });
  return day.format(Math.min(fromMs, toMs) - CLOCKS_APART_MS) !== day.format(Math.max(fromMs, toMs) + CLOCKS_APART_MS);
}

// src/orders/command.ts
var LOOK_UPS = 8;
var DAY_MS = 864e5;
var SLACK_MS = 3e3;
async function commandOnce(exchange, operation, params, clOrderId, isOwnId, asked) {
  const { now } = exchange.clock;
  const firstAt = now();
  let mayExist = false;
  let wasSent = false;
  let orderId = null;
  const isLate = () => wasSent && [0, exchange.clock.skewMs].some((skewMs) => mayDiffer(firstAt + skewMs, now() + skewMs));
  try {
    return await send() ?? await lookUp();
  } catch (cause) {
    const error = asOurs(cause);
    const { status, requestId, code, message } = error;
    if (!mayExist || error.order) throw new TrunklineError(code, message, { ...error, clOrderId });
    const unknown = `It is unknown whether the order ${clOrderId} was placed: look for it. ${message}`;
    throw new TrunklineError(code === "aborted" ? code : "outcome_unknown", unknown, { status, requestId, clOrderId, orderId });
  }
  async function send() {
    for (; ; ) {
      let error;
      try {
        const answer = await exchange.attempt(operation, params, false);
        if (answer.data.cl_order_id === clOrderId) return answer;
        throw OTHER;
      } catch (cause) {
        error = asOurs(cause);
      }
      const isRefusal = isRefused(error);
      wasSent ||= error.status !== null || !error.retrySafe;
      if (isRefusal && error.code === "cl_order_id_duplicate" && error.orderId && (mayExist || isOwnId)) {
        mayExist = true;
        orderId = error.orderId;
        exchange.renew();
        return recognised([await repeated(exchange, readOrder, { order_id: orderId })]);
      }
      if (isRefusal && !mayExist) throw error;
      mayExist ||= !isRefusal && !error.retrySafe || isLate();
      if (isRefusal || isLate()) return null;
      try {
        await exchange.pause(error);
      } catch (cause) {
        if (!mayExist || asOurs(cause).code === "aborted") throw cause;
        return null;
      }
      if (isLate()) {
        mayExist = true;
        return null;
      }
    }
  }
  async function lookUp() {
    const startMs = firstAt + Math.min(0, exchange.clock.skewMs) - DAY_MS;
    const query = { cl_order_id: clOrderId, start_time: new Date(startMs).toISOString() };
    exchange.renew();
    for (; ; ) {
      let error = new TrunklineError("outcome_unknown", "It is not there yet.");
      try {
        const { data, meta } = await exchange.attempt(listOrders, query, true);
        const { skewMs } = exchange.clock;
        const found = data.data.filter((each) => {
          const at = Date.parse(each.entry_time) - skewMs;
          return each.cl_order_id === clOrderId && at >= firstAt - SLACK_MS && (!skewMs || at <= now() + SLACK_MS);
        });
        if (found[0]) return recognised(found.map((order) => ({ data: order, meta })));
      } catch (cause) {
        error = asOurs(cause);
        if (!error.retrySafe) throw error;
      }
      await exchange.pause(error, LOOK_UPS);
    }
  }
  function recognised(found) {
    const named = found.filter(({ data }) => data.cl_order_id === clOrderId && (orderId ?? data.order_id) === data.order_id);
    const [any] = named;
    if (!any) throw OTHER;
    const matches = named.map(({ data }) => matched(asked, data));
    const same = named[matches.indexOf("same")];
    if (same) return same;
    const {
      data: order,
      meta: { requestId }
    } = named[matches.indexOf("unsure")] ?? any;
    const about = { order, orderId: order.order_id, requestId };
    if (!matches.includes("unsure") && !isLate())
      throw new TrunklineError("cl_order_id_taken", "Another order has this id: nothing was placed.", { ...about, nothingDone: true });
    throw new TrunklineError("outcome_unknown", "The order with this id has other terms, perhaps changed by its broker.", about);
  }
}
var OTHER = "The answer is not about this order.";
function isRefused({ code, status }) {
  return status === null ? code === "setting_invalid" : ORDER_REFUSALS.test(`${status} ${code}`);
}
function asOurs(cause) {
  return cause instanceof TrunklineError ? cause : new TrunklineError("answer_unreadable", OTHER);
}

// src/orders/index.ts
function orders(transport) {
  return {
    place: (ticket = Object(), options) => (
      // A new order replaces none, and is for an amount of money only if it says so.
      commanding(
        placeOrder,
        ticket,
        "cl_order_id",
        { ...ticket, order_notional: ticket.order_notional ?? "", replaces_order_id: "" },
        options
      )
    ),
    preview: calling(transport, previewOrder),
    read: calling(transport, readOrder),
    list: listing(transport, listOrders),
    modify: (change = Object(), options) => commanding(modifyOrder, change, "new_cl_order_id", { ...change, replaces_order_id: change.order_id }, options),
    cancel: calling(
      transport,
      cancelOrder,
      ({ code }, exchange, { order_id }) => code === "order_not_open" ? repeated(exchange, readOrder, { order_id }) : void 0
    ),
    cancelAll: (scope = Object(), options) => callOf(cancelAll(transport.begin(options), scope))
  };
  function commanding(operation, terms, idName, asked, options) {
    const given2 = terms[idName] ?? null;
    const id = given2 === null ? randomId() : String(given2);
    return callOf(commandOnce(transport.begin(options), operation, Object({ ...terms, [idName]: id }), id, given2 === null, asked));
  }
}

// src/resources.ts
function users(transport) {
  return resourceOf(transport, USERS, {
    create({ code, status, requestId }) {
      if (code !== "user_exists") return void 0;
      const message = "The user exists, but the answer with the secret was lost: users.rotateSecret issues another.";
      throw new TrunklineError("user_secret_lost", message, { status, requestId });
    },
    delete: doneIf("user_not_found", "user_id")
  });
}
function connections(transport) {
  return resourceOf(transport, CONNECTIONS, { claim: claimed, delete: doneIf("connection_not_found", "connection_id") });
}
var claimed = (error, exchange, { connection_id: asked }) => error.code === "connection_claimed" ? claimedBefore(exchange, asked.toLowerCase(), error) : void 0;
async function claimedBefore(exchange, connectionId, error) {
  const { data, meta } = await repeated(exchange, listConnections, {});
  const found = data.find(({ connection_id: id }) => id === connectionId);
  if (!found) throw error;
  return { data: found, meta };
}
function accounts(transport) {
  return { list: calling(transport, listAccounts) };
}
function balances(transport) {
  return { list: calling(transport, listBalances) };
}
function positions(transport) {
  return { list: calling(transport, listPositions) };
}
function transactions(transport) {
  return { list: listing(transport, listTransactions) };
}
function marketData(transport) {
  return resourceOf(transport, MARKET_DATA);
}
function webhookEndpoints(transport) {
  return resourceOf(transport, WEBHOOK_ENDPOINTS, { delete: doneIf("webhook_endpoint_not_found", "endpoint_id") });
}
function brokers(transport) {
  return calling(transport, listBrokers);
}
function platformConnections(transport) {
  return listing(transport, listPlatformConnections);
}
function events(transport) {
  return listing(transport, listEvents, ({ after }, { oldest_seq: oldest }) => {
    if (after !== void 0 && after < oldest - 1)
      throw new TrunklineError("events_missing", `The log begins at ${oldest}: read a snapshot.`);
  });
}

// src/trunkline.ts
var Trunkline = class {
  #transport;
  /** @throws TrunklineError setting_invalid */
  constructor(options) {
    const transport = transportOf(options);
    this.#transport = transport;
    this.users = users(transport);
    this.brokers = brokers(transport);
    this.events = events(transport);
    this.platformConnections = platformConnections(transport);
    this.webhookEndpoints = webhookEndpoints(transport);
  }
  /** The service for one user. @throws TrunklineError setting_invalid */
  user(credentials) {
    return userOf(this.#transport.asUser(credentials));
  }
};
function userOf(transport) {
  return {
    connections: connections(transport),
    accounts: accounts(transport),
    balances: balances(transport),
    positions: positions(transport),
    transactions: transactions(transport),
    orders: orders(transport),
    marketData: marketData(transport)
  };
}
export {
  Trunkline,
  TrunklineError,
  accounts,
  balances,
  brokers,
  connections,
  events,
  marketData,
  orders,
  platformConnections,
  positions,
  transactions,
  transportOf,
  users,
  webhookEndpoints
};
//# sourceMappingURL=index.js.map
