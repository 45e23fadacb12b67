// The live market data page, a browser client of the market data stream. Its scripts are in ./client.
import { SESSIONS, type Session } from '@trunkline/core/domain/vocabulary'
import { DEPTH_LEVELS } from '../../../wire/market.ts'
import { type Html, markup } from '../html.ts'
import { trading } from './trading.ts'

/** A close code or error code of the stream, and its explanation. */
export interface ReferenceEntry {
  readonly code: string
  readonly meaning: string
  readonly remedy: string
}

const INTERVALS = ['1m', '5m', '15m', '30m', '1h', '4h', '1d', '1w', '1M'] as const
const SUGGESTED = ['SPY', 'AAPL', 'MSFT', 'BTC/USD', 'ETH/USD', 'ESZ26'] as const
const SESSION_NAMES: Readonly<Record<Session, string>> = {
  BrokerDefault: 'Broker’s default',
  USEqCore: 'Regular hours',
  USEqPreMkt: 'Pre-market',
  USEqPostMkt: 'After hours',
  USEqPreAndPostMkt: 'Pre-market and after hours',
  USEq24Hour: '24 hours'
}
const FIRST_SYMBOL = 'SPY'
/** As many as fit beside a full order book. A phone shows the first few. */
const TRADES = 2 * DEPTH_LEVELS.most + 1

/** Renders the page. `reference` explains the codes with the same texts as the API reference. */
export function livePage(reference: readonly ReferenceEntry[]): string {
  const page = markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Live market data · Trunkline</title>
<link rel="stylesheet" href="/docs/live/page.css">
<link rel="stylesheet" href="/docs/live/market.css">
<link rel="stylesheet" href="/docs/live/trading.css">
<link rel="icon" href="data:,">
<script type="module" src="/docs/live/main.js"></script>
</head>
<body>
<a class="skip" href="#symbol">Skip to the choice of a symbol</a>
<header>
<h1>Live market data</h1>
<p class="links"><a href="/docs#market-data">Reference</a> <a href="/asyncapi.json">asyncapi.json</a></p>
<p id="state" class="state" role="status" data-tone="idle"><span id="state-word" class="state-word">Not connected</span></p>
</header>
<main>
${choice()}
<div class="market">
${chart()}
${depth()}
${trades()}
</div>
${trading()}
${chain()}
${log()}
</main>
<footer>
<p>TradingView Lightweight Charts™, copyright © 2026 <a href="https://www.tradingview.com/">TradingView, Inc.</a>, Apache License 2.0. This page loads everything from
this service.</p>
</footer>
<noscript><p class="noscript">This page shows data from a WebSocket and needs JavaScript. The <a href="/docs">reference</a> does not.</p></noscript>
<template id="reference">
${reference.map(entryOf)}</template>
</body>
</html>
`
  return page.html
}

function choice(): Html {
  return markup`<form id="view-form" class="controls" aria-label="View">
<p class="field"><label for="symbol">Symbol</label>
<input id="symbol" name="symbol" value="${FIRST_SYMBOL}" list="symbols" maxlength="40" required autocomplete="off" autocapitalize="characters" spellcheck="false" enterkeyhint="go">
<datalist id="symbols">${options(SUGGESTED)}</datalist></p>
<p class="field"><label for="interval">Interval</label>
<select id="interval" name="interval">${options(INTERVALS)}</select></p>
<p class="field"><label for="session">Session</label>
<select id="session" name="session">${SESSIONS.map(value => markup`<option value="${value}">${SESSION_NAMES[value]}</option>`)}</select></p>
<p class="go"><button class="main-button">Show</button></p>
</form>`
}

function chart(): Html {
  return markup`<section class="card chart-card" aria-labelledby="quote-symbol">
<div class="quote">
<h2 id="quote-symbol">${FIRST_SYMBOL}</h2>
<p id="quote-last" class="price">–</p>
<dl class="sides">
<div class="side"><dt>Bid</dt><dd id="quote-bid">– × –</dd></div>
<div class="side"><dt>Ask</dt><dd id="quote-ask">– × –</dd></div>
</dl>
</div>
<p id="legend" class="legend">${['O', 'H', 'L', 'C', 'V'].map(name => markup`<span><abbr title="${FIGURES[name] ?? name}">${name}</abbr> <output>–</output></span>\n`)}</p>
<div class="stage">
<div id="chart" class="chart" role="region" tabindex="0" aria-label="Chart" aria-describedby="chart-keys"></div>
<div id="notice" class="notice" role="alert" hidden>
<div class="notice-card">
<h3 id="notice-title" class="notice-title"></h3>
<p id="notice-text" class="notice-text"></p>
<form id="token-form" class="token" autocomplete="off" hidden>
<label for="token">Access token</label>
<input id="token" type="password" required autocomplete="off" spellcheck="false" placeholder="mdt_…">
<button class="main-button">Connect</button>
<p class="quiet hint">With the demo platform: open the link that npm start printed (home_url in demo-platform.json), then open this page again.</p>
</form>
<button id="notice-button" class="main-button" type="button" hidden></button>
</div>
</div>
</div>
<p class="under"><span id="older">Scroll left for older bars</span> <span id="zone">Times are in New York time</span>
<span id="chart-keys" class="unseen">Arrow keys scroll, plus and minus zoom, End returns to the newest bar.</span></p>
</section>`
}

const FIGURES: Readonly<Record<string, string>> = { O: 'Open', H: 'High', L: 'Low', C: 'Close', V: 'Volume' }

function depth(): Html {
  return markup`<section class="card depth-card" aria-labelledby="depth-title">
<h2 id="depth-title">Depth</h2>
<p id="depth-status" class="quiet over" role="status"></p>
<table class="figures fixed">
<caption class="unseen">Ten levels of asks over ten levels of bids</caption>
<thead><tr><th scope="col" class="first wide-44">Price</th><th scope="col" class="wide-32">Size</th><th scope="col">Orders</th></tr></thead>
<tbody id="asks">${levels('ask')}</tbody>
<tbody><tr class="spread"><th scope="row" class="first">Spread</th><td id="spread" colspan="2">–</td></tr></tbody>
<tbody id="bids">${levels('bid')}</tbody>
</table>
</section>`
}

/** Empty rows from the start, so that the layout does not shift when data arrives. */
function rows(count: number, row: Html): Html {
  return markup`${Array.from({ length: count }, () => row)}`
}

function levels(side: 'ask' | 'bid'): Html {
  return rows(DEPTH_LEVELS.most, markup`<tr class="${side}"><th scope="row" class="first level">–</th><td>–</td><td>–</td></tr>\n`)
}

const TRADE_ROW = markup`<tr><td class="first soft"></td><td></td><td></td><td class="soft"></td></tr>\n`

function trades(): Html {
  return markup`<section class="card trades-card" aria-labelledby="trades-title">
<h2 id="trades-title">Trades</h2>
<p id="trades-status" class="quiet over" role="status">No trade yet</p>
<table class="figures fixed">
<caption class="unseen">The latest trades, newest first</caption>
<thead><tr><th scope="col" class="first wide-clock">Time</th><th scope="col" class="wide-32">Price</th><th scope="col">Size</th><th scope="col" class="wide-20">Venue</th></tr></thead>
<tbody id="trades" class="trades">${rows(TRADES, TRADE_ROW)}</tbody>
</table>
</section>`
}

function chain(): Html {
  const calls = ['Volume', 'IV', 'Delta', 'Last', 'Bid', 'Ask']
  const puts = ['Bid', 'Ask', 'Last', 'Delta', 'IV', 'Volume']
  return markup`<section class="card" aria-labelledby="chain-title">
<div class="head">
<h2 id="chain-title" class="line">Options chain</h2>
<form id="chain-form" class="controls" aria-label="Chain settings">
<p class="field"><label for="expiration">Expiration</label>
<input id="expiration" name="expiration" list="expirations" pattern="\\d{4}-\\d{2}-\\d{2}" placeholder="YYYY-MM-DD" maxlength="10" autocomplete="off" inputmode="numeric">
<datalist id="expirations"></datalist></p>
<p class="check"><input id="greeks" type="checkbox" checked> <label for="greeks">Greeks</label></p>
<p class="go"><button class="main-button">Show chain</button></p>
</form>
<p id="chain-status" class="quiet line fills" role="status"></p>
</div>
<div id="chain-box" class="box chain-box" role="group" tabindex="0" aria-label="Contracts">
<table class="figures chain">
<caption class="unseen">Calls on the left of their strike, puts on the right</caption>
<thead id="chain-head">
<tr><td class="more" colspan="4"></td><th scope="colgroup" colspan="2" class="group">Calls</th><td></td><th scope="colgroup" colspan="2" class="group">Puts</th><td class="more" colspan="4"></td></tr>
<tr>${calls.map((name, at) => markup`<th scope="col" class="${at < 4 ? 'more' : ''}">${name}</th>`)}<th scope="col" class="strike">Strike</th>${puts.map((name, at) => markup`<th scope="col" class="${at > 1 ? 'more' : ''}">${name}</th>`)}</tr>
</thead>
<tbody id="chain"></tbody>
</table>
</div>
</section>`
}

function log(): Html {
  return markup`<section class="card" aria-labelledby="log-title">
<div class="head">
<h2 id="log-title" class="line">Messages</h2>
<p class="check"><input id="log-updates" type="checkbox" checked> <label for="log-updates">Show updates</label></p>
<p><button id="log-pause" type="button">Pause</button> <button id="log-clear" type="button">Clear</button></p>
<p id="log-count" class="quiet line fills">0 messages</p>
</div>
<ol id="log" class="box log" tabindex="0" aria-labelledby="log-title"></ol>
</section>`
}

function entryOf({ code, meaning, remedy }: ReferenceEntry): Html {
  return markup`<p data-code="${code}" data-meaning="${plain(meaning)}" data-remedy="${plain(remedy)}"></p>\n`
}

function plain(text: string): string {
  return text.replaceAll('`', '')
}

function options(values: readonly string[]): Html {
  return markup`${values.map(value => markup`<option>${value}</option>`)}`
}
