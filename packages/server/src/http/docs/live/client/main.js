import { Connection } from './connection.js'
import { demoToken } from './demo-token.js'
import { fridaysFrom, monthlyAfter } from './expirations.js'
import { Market } from './market.js'
import { MessageLog } from './message-log.js'
import { Notices, referenceOf } from './notices.js'
import { Subscriptions } from './subscriptions.js'
import { byId, made } from './trading/elements.js'
import { Trading } from './trading.js'

const viewForm = byId('view-form', HTMLFormElement)
const symbolField = byId('symbol', HTMLInputElement)
const intervalField = byId('interval', HTMLSelectElement)
const sessionField = byId('session', HTMLSelectElement)
const tokenForm = byId('token-form', HTMLFormElement)
const tokenField = byId('token', HTMLInputElement)
const chainForm = byId('chain-form', HTMLFormElement)
const expirationField = byId('expiration', HTMLInputElement)
const greeksField = byId('greeks', HTMLInputElement)

const notices = new Notices()
const log = new MessageLog()
let broker = ''
let isLive = false
let isDemo = false
/** Whether a new demo token was fetched since the last one that was accepted. */
let isRenewed = false
let isShown = false
/** The service's last error message before it closed the session. */
let lastMessage = ''

const connection = new Connection({
  connecting() {
    notices.state('busy', 'Connecting')
  },
  ready() {
    isLive = true
    isRenewed = false
    lastMessage = ''
    tokenField.value = ''
    notices.show(null)
    showHealth()
    subscriptions.reset()
    show(isShown)
  },
  refused({ message = '' }) {
    // Another page got a newer token. All pages share the newest.
    if (isDemo && !isRenewed) {
      isRenewed = true
      void connectAgain({ isRefused: true })
      return
    }
    notices.state('error', 'Not authenticated')
    notices.show({ title: 'The token was not accepted', text: message, token: true })
  },
  closed(code, reason, waitMs) {
    isLive = false
    subscriptions.reset()
    const { meaning, remedy } = referenceOf(code)
    const why = lastMessage || meaning || reason || 'The connection was lost.'
    const which = code === 1006 ? '' : ` (${code}${reason === '' ? '' : `: ${reason}`})`
    if (waitMs === null) {
      notices.state('error', `Closed${which}`)
      notices.show({
        title: `The session was closed${which}`,
        text: `${why} ${remedy}`,
        button: 'Connect again',
        pressed: () => connectAgain({ isRefused: false })
      })
      return
    }
    notices.state('warning', 'Reconnecting')
    const text = `${why} Trying again in ${Math.max(1, Math.round(waitMs / 1_000))} s, then subscribing again.`
    notices.show({ title: `The connection was lost${which}`, text, button: 'Try now', pressed: () => connection.retry(), isAside: true })
  },
  update(message) {
    subscriptions.take(message)
    if (isLive) showHealth()
  },
  errored({ message = '', sub_ids: subIds }) {
    lastMessage = message
    if (subIds === undefined) return
    subscriptions.interrupt(subIds)
    interruption = message
    showHealth()
  },
  sent: text => log.put('sent', text),
  received: text => log.put('received', text)
})
const subscriptions = new Subscriptions(connection)
const market = new Market(connection, subscriptions, {
  began(reply) {
    broker = reply.broker ?? ''
    showHealth()
  },
  refused({ error_code: code, message = '' }) {
    notices.show({ title: `${symbolField.value} cannot be shown like this`, text: `${message} ${referenceOf(code).remedy}` })
  }
})
const trading = new Trading(fills => market.showFills(fills))
let interruption = ''
let wasInterrupted = false

/** Shows whether data arrives, and clears the notice when it arrives again. */
function showHealth() {
  const { areInterrupted } = subscriptions
  if (areInterrupted) {
    notices.state('warning', 'Interrupted')
    if (!wasInterrupted) notices.show({ title: 'The broker sends no data at the moment', text: interruption, isAside: true })
  } else {
    notices.state('live', broker === '' ? 'Live' : `Live · ${broker}`)
    if (wasInterrupted) notices.show(null)
  }
  wasInterrupted = areInterrupted
}

/** @param {boolean} isAgain whether the same choice was shown before the connection was lost */
function show(isAgain) {
  if (!isLive) return
  isShown = true
  market.show({ symbol: symbolField.value, interval: intervalField.value, session: sessionField.value }, { isAgain })
  showChain()
}

function showChain() {
  if (isLive) market.showChain(symbolField.value, expirationField.value, greeksField.checked)
}

/** @param {{ readonly isRefused: boolean }} what whether the previous token was refused */
async function connectAgain(what) {
  notices.state('busy', 'Connecting')
  const token = isDemo ? await demoToken(what) : null
  if (token === null) askForToken('Paste an access token')
  else connection.open(token)
}

/** @param {string} title */
function askForToken(title) {
  notices.state('idle', 'Not connected')
  const text = 'From GET /connections/{connection_id}/token. It is valid for 24 hours and stays in this page’s memory only.'
  notices.show({ title, text, token: true })
}

viewForm.addEventListener('submit', event => {
  event.preventDefault()
  symbolField.value = symbolField.value.trim().toUpperCase()
  notices.show(null)
  trading.symbol = symbolField.value
  show(false)
})
for (const field of [intervalField, sessionField]) field.addEventListener('change', () => viewForm.requestSubmit())
chainForm.addEventListener('submit', event => {
  event.preventDefault()
  showChain()
})
greeksField.addEventListener('change', showChain)
tokenForm.addEventListener('submit', event => {
  event.preventDefault()
  isDemo = false
  connection.open(tokenField.value.trim())
})

const now = Date.now()
byId('expirations', HTMLDataListElement).append(
  ...fridaysFrom(now).map(day => {
    const option = made('option')
    option.value = day
    return option
  })
)
expirationField.value = monthlyAfter(now)

trading.symbol = symbolField.value
void trading.run()
notices.state('busy', 'Connecting')
const token = await demoToken({ isRefused: false })
isDemo = token !== null
if (token === null) askForToken('Paste an access token')
else connection.open(token)
