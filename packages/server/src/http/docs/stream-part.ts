// The broker stream's part of the reference page.
import { streamUrl } from './asyncapi.ts'
import { fieldTable, table } from './fields.ts'
import { type Html, joined, markup, prose } from './html.ts'
import { ANNOUNCEMENTS, type Announcement, DIALOGUE, MESSAGES, type Message, REQUESTS, type Request } from './stream-messages.ts'
import { CLOSE_CODES, LIMITS } from './stream-rules.ts'

/** Longer examples are folded away. */
const SHOWN_MAX = 250

const RECEIVED: readonly Message[] = MESSAGES.filter(message => !REQUESTS.some(({ title }) => title === message.title))

/** Its part of the table of contents. */
export function streamNavigation(): Html {
  const lines = [...REQUESTS, ...RECEIVED].map(({ title, word }) => markup`<li><a href="#${title}">${word}</a></li>\n`)
  return markup`<h2>Broker stream</h2>
<ul>
<li><a href="#stream">How it goes</a></li>
<li><a href="#stream-limits">Close codes and limits</a></li>
${lines}</ul>
`
}

/** What there is to know of the stream, for the service at `publicUrl`. */
export function streamPart(publicUrl: string): Html {
  return markup`<section>
<h2 id="stream">Broker stream</h2>
<p>A WebSocket at <code>${streamUrl(publicUrl)}</code> tells every change of an order, a position or a balance of the users you name, as it happens.
Messages are JSON text: yours carry <code>action</code>, the service’s <code>type</code>. Ignore a <code>type</code>, and a field, that you do
not know.</p>
<pre tabindex="0" class="dialogue" aria-label="An example of a session"><code>${DIALOGUE.map(dialogueLine)}</code></pre>
<p>First subscribe, then read a snapshot by REST, then apply updates by replacing records, and keep the last <code>seq</code> of each user. When the
line is lost, connect again, say who you are, repeat all subscriptions, and give that <code>seq</code> as <code>after</code>. <code>GET /events</code>
reads the same updates over REST, with the same numbers.</p>
<section aria-labelledby="stream-limits">
<h3 id="stream-limits">Close codes and limits</h3>
${table(
  'Close codes',
  ['Code', 'What it means', 'What to do'],
  CLOSE_CODES.map(({ code, meaning, remedy }) => row(String(code), meaning, remedy))
)}
${table(
  'Limits',
  ['Limit', 'Value', 'Beyond it'],
  LIMITS.map(({ what, value, beyond }) => row(what, value, beyond))
)}</section>
</section>
<section>
<h2>You send</h2>
${REQUESTS.map(request)}</section>
<section>
<h2>You receive</h2>
${RECEIVED.map(received)}</section>
`
}

function row(name: string, second: string, third: string): Html {
  return markup`<tr><th scope="row">${prose(name)}</th><td>${prose(second)}</td><td>${prose(third)}</td></tr>\n`
}

function request(message: Request): Html {
  return article(message, 'send', markup`<p>${prose(message.rules)}</p>`, markup`<p>Answered with ${links(message.replies)}.</p>\n`)
}

function received(message: Message): Html {
  const announced = ANNOUNCEMENTS.filter(({ messages }) => messages.includes(message))
  const answers = REQUESTS.filter(({ replies }) => replies.includes(message))
  return article(
    message,
    'receive',
    markup`${announced.map(rulesOf)}${answers.length === 0 ? '' : markup`<p>Answers ${links(answers)}.</p>`}`,
    markup``
  )
}

function rulesOf({ rules }: Announcement): Html {
  return markup`<p>${prose(rules)}</p>\n`
}

function article({ title, word, summary, schema, example }: Message, way: string, rules: Html, end: Html): Html {
  return markup`<article id="${title}" aria-labelledby="${title}-title">
<h3 id="${title}-title"><code>${word}</code></h3>
<p class="address"><span class="method">${way}</span> ${prose(summary)}</p>
${rules}
${fieldTable('Fields', schema, title)}${exampleOf(example)}${end}</article>
`
}

function exampleOf(example: unknown): Html {
  const line = JSON.stringify(example)
  if (line.length <= SHOWN_MAX) return markup`<pre tabindex="0" class="message"><code>${line}</code></pre>\n`
  const text = JSON.stringify(example, null, 2)
  return markup`<details><summary>Example</summary><pre tabindex="0" class="message"><code>${text}</code></pre></details>\n`
}

function links(messages: readonly Message[]): Html {
  return joined(messages.map(({ title, word }) => markup`<a href="#${title}"><code>${word}</code></a>`))
}

/** One message of the dialogue on a line; records are left out. */
function dialogueLine({ title, example }: Message): Html {
  const isSent = REQUESTS.some(request => request.title === title)
  const text = JSON.stringify(example).replace(/"data":(?:(\{).*(\})|(\[).*(\]))\}$/, '"data":$1$3…$2$4}')
  return markup`<span class="${isSent ? 'sent' : 'received'}">${isSent ? '→' : '←'}\u00a0${text}</span>`
}
