// The practice account on the live page: an order ticket, and what the account has. Its scripts are in ./client.
import { type Html, markup } from '../html.ts'

const SIDES = [
  ['BUY', 'Buy'],
  ['SELL', 'Sell']
] as const
const TYPES = [
  ['MKT', 'Market'],
  ['LMT', 'Limit'],
  ['STP', 'Stop']
] as const
const TIMES_IN_FORCE = [
  ['DAY', 'Day'],
  ['GTC', 'Until cancelled'],
  ['IOC', 'Immediate or cancel'],
  ['FOK', 'All or nothing, at once']
] as const
const TABLES = [
  { id: 'working', title: 'Working orders', columns: ['Order', 'Price', 'Filled', 'Status', 'Cancel'] },
  { id: 'positions', title: 'Positions', columns: ['Symbol', 'Quantity', 'Average', 'Last', 'Unrealized'] },
  { id: 'fills', title: 'Fills', columns: ['Time', 'Fill', 'Price'] },
  { id: 'balances', title: 'Balances', columns: ['Currency', 'Cash', 'Buying power', 'Equity'] }
] as const

/** The section. It is complete from the start, so that the layout does not shift; without a demo platform it becomes a sentence. */
export function trading(): Html {
  return markup`<section id="trading" class="card trading" aria-labelledby="trading-title">
<div class="head">
<h2 id="trading-title" class="line">Practice account</h2>
<p id="trading-status" class="quiet line fills" role="status">Connecting</p>
</div>
<div id="trading-parts" class="trading-parts">
${ticket()}
<div class="tables">
${TABLES.map(table)}</div>
</div>
</section>`
}

function ticket(): Html {
  return markup`<form id="ticket" class="ticket" aria-labelledby="ticket-title" autocomplete="off">
<h3 id="ticket-title">Order for <output id="ticket-symbol">–</output></h3>
<p class="field wide"><label for="ticket-account">Account</label> <select id="ticket-account" required></select></p>
<p class="field"><label for="ticket-side">Side</label> <select id="ticket-side">${choices(SIDES)}</select></p>
<p class="field"><label for="ticket-quantity">Quantity</label>
<input id="ticket-quantity" value="10" required inputmode="decimal" maxlength="25" pattern="\\d{1,15}(\\.\\d{1,9})?" title="A decimal such as 10 or 0.25"></p>
<p class="field"><label for="ticket-type">Type</label> <select id="ticket-type">${choices(TYPES)}</select></p>
<p class="field"><label for="ticket-price" id="ticket-price-label">Price</label>
<input id="ticket-price" disabled required inputmode="decimal" maxlength="25" pattern="\\d{1,15}(\\.\\d{1,9})?" title="A decimal such as 227.50"></p>
<p class="field wide"><label for="ticket-tif">Time in force</label> <select id="ticket-tif">${choices(TIMES_IN_FORCE)}</select></p>
<p class="wide"><button class="main-button">Preview</button></p>
<p id="ticket-result" class="wide result" role="status" tabindex="-1"></p>
<p class="wide"><button id="ticket-place" class="main-button" type="button" hidden>Place order</button>
<button id="ticket-forget" type="button" hidden>Stop looking for it</button></p>
</form>`
}

function table({ id, title, columns }: (typeof TABLES)[number]): Html {
  return markup`<div class="part">
<h3 id="${id}-title">${title} <span id="${id}-count" class="quiet"></span></h3>
${
  id === 'positions' || id === 'balances'
    ? markup`<p id="${id}-as-of" class="quiet as-of"></p>
`
    : ''
}<div class="box account-box" role="region" tabindex="0" aria-labelledby="${id}-title">
<table class="figures">
<thead><tr>${columns.map((name, index) => markup`<th scope="col"${index === 0 ? markup` class="first"` : ''}>${name}</th>`)}</tr></thead>
<tbody id="${id}"></tbody>
</table>
</div>
</div>
`
}

function choices(all: readonly (readonly [value: string, name: string])[]): Html {
  return markup`${all.map(([value, name]) => markup`<option value="${value}">${name}</option>`)}`
}
