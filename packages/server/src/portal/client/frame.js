// The page in a platform's frame. It opens the link in a window, and passes that window's outcome on to the platform's page.
const { to = '', nonce = '', link = '' } = document.getElementById('script')?.dataset ?? {}
const FEATURES = 'popup,width=500,height=760'
/** @type {Window | null} */
let portal = null

/** @param {object} message */
function send(message) {
  parent.postMessage({ type: 'trunkline.connect', nonce, ...message }, to)
}

document.getElementById('open')?.addEventListener('click', () => {
  if (portal !== null && !portal.closed) return portal.focus()
  portal = window.open(link, '', FEATURES)
  document.getElementById('blocked')?.toggleAttribute('hidden', portal !== null)
})

addEventListener('message', ({ source, origin, data }) => {
  if (portal === null || source !== portal || origin !== location.origin) return
  if (data?.type !== 'trunkline.connect' || data.nonce !== nonce || data.event !== 'outcome') return
  send({ event: 'outcome', result: data.result })
  portal.close()
})

send({ event: 'ready' })
