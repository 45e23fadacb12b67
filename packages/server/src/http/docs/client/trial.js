import { element } from './element.js'

/** @typedef {Readonly<Record<string, string | null>>} Ids */

/**
 * Sends requests of the reference with the demo platform, in a browser that may see it. The browser learns no secret: the service adds the
 * credentials.
 */
export async function addTrials() {
  const entries = [...document.querySelectorAll('article[data-method]')]
  if (entries.length === 0 || !(await isOffered())) return
  for (const entry of entries) if (entry instanceof HTMLElement) addTrial(entry)
}

async function isOffered() {
  try {
    return (await fetch('/demo-request')).status === 200
  } catch {
    return false
  }
}

/** @param {HTMLElement} entry */
function addTrial(entry) {
  const details = element('details', { class: 'trial' }, element('summary', {}, 'Try it with the demo platform'))
  entry.querySelector('.samples')?.append(details)
  details.addEventListener('toggle', () => void open(entry, details), { once: true })
}

/**
 * @param {HTMLElement} entry
 * @param {HTMLDetailsElement} details
 */
async function open(entry, details) {
  const { method = 'GET', path = '', search = '', body = '' } = entry.dataset
  const waiting = element('p', { role: 'status' }, 'Preparing a user with a sandbox connection…')
  details.append(waiting)
  const ids = await idsOf()
  waiting.remove()
  const address = element('input', {
    type: 'text',
    spellcheck: 'false',
    value: filled(path, ids) + (search === '' ? '' : `?${searchOf(search, ids)}`)
  })
  const form = element('form', {}, element('label', {}, `${method} `, address))
  const content = body === '' ? null : element('textarea', { rows: '10', spellcheck: 'false' })
  if (content !== null) {
    content.value = bodyOf(body, path === '/users' ? { ...ids, user_id: `try-${crypto.randomUUID().slice(0, 8)}` } : ids)
    form.append(element('label', {}, 'Body', content))
  }
  const send = element('button', { type: 'submit' }, 'Send')
  const status = element('p', { role: 'status' })
  const answer = element('pre', { tabindex: '0', class: 'answer', 'aria-label': 'Answer' }, element('code'))
  answer.hidden = true
  form.append(send)
  details.append(form, status, answer)
  form.addEventListener('submit', async event => {
    event.preventDefault()
    send.disabled = true
    status.textContent = 'Sending…'
    const result = await sent(method, address.value, content?.value ?? '')
    status.textContent = result.status
    answer.hidden = false
    answer.querySelector('code')?.replaceChildren(result.body)
    send.disabled = false
  })
}

/**
 * @param {string} method
 * @param {string} path
 * @param {string} body
 */
async function sent(method, path, body) {
  const [, missing] = /\{(\w+)\}/.exec(path) ?? []
  if (missing !== undefined) return { status: `Not sent: put a value in the place of {${missing}}.`, body: '' }
  try {
    const response = await fetch('/demo-request', { method: 'POST', body: new URLSearchParams({ method, path, body }) })
    if (response.status !== 200) return { status: `Not sent: ${response.status}. Open the link that the service printed again.`, body: '' }
    const { status, text, refused } = await response.json()
    if (typeof refused === 'string') return { status: `Not sent. ${refused}`, body: '' }
    return { status: `Answered ${status}`, body: indented(String(text)) }
  } catch {
    return { status: 'Not sent: the service does not answer.', body: '' }
  }
}

/** @returns {Promise<Ids>} */
async function idsOf() {
  try {
    const response = await fetch('/demo-request/ids', { method: 'POST' })
    return response.status === 200 ? await response.json() : {}
  } catch {
    return {}
  }
}

/**
 * @param {string} path
 * @param {Ids} ids
 */
function filled(path, ids) {
  return path.replace(/\{(\w+)\}/g, (whole, name) => (typeof ids[name] === 'string' ? encodeURIComponent(ids[name]) : whole))
}

/**
 * @param {string} search
 * @param {Ids} ids
 */
function searchOf(search, ids) {
  return search
    .split('&')
    .map(pair => {
      const [name = ''] = pair.split('=', 1)
      return typeof ids[name] === 'string' ? `${name}=${encodeURIComponent(ids[name])}` : pair
    })
    .join('&')
}

/**
 * The example with the records of the demo user, and ids for orders that nobody has used.
 * @param {string} text
 * @param {Ids} ids
 */
function bodyOf(text, ids) {
  const body = JSON.parse(text)
  for (const name of Object.keys(body)) {
    if (name.endsWith('cl_order_id')) body[name] = crypto.randomUUID()
    else if (typeof ids[name] === 'string') body[name] = ids[name]
  }
  return JSON.stringify(body, null, 2)
}

/** @param {string} text */
function indented(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
