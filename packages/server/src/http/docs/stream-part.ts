// The section of the reference page that describes a stream.
import { streamUrl } from './asyncapi.ts'
import { type Announcement, type Message, messagesOf, type Request, type Stream } from './described.ts'
import { fieldName, fieldTable, table } from './fields.ts'
import { type Html, joined, markup, richText } from './html.ts'

/** Characters. Longer examples are collapsed. */
const SHOWN_MAX = 250

/** The stream's entries in the table of contents. */
export function streamNavigation(stream: Stream): Html {
  const lines = [...stream.requests, ...received(stream)].map(({ title, name }) => markup`<li><a href="#${title}">${name}</a></li>\n`)
  return markup`<h2>${stream.title}</h2>
<ul>
<li><a href="#${stream.anchor}">Overview</a></li>
<li><a href="#${stream.anchor}-limits">Codes and limits</a></li>
${lines}</ul>
`
}

/** Describes a stream of the service at `publicUrl`. */
export function streamPart(stream: Stream, publicUrl: string): Html {
  const { anchor, title, opening, closing, dialogue, requests } = stream
  return markup`<section>
<h2 id="${anchor}">${title}</h2>
<p>A WebSocket at <code>${streamUrl(publicUrl, stream)}</code> ${richText(opening)}</p>
<pre tabindex="0" class="dialogue" aria-label="An example of a session of the ${title.toLowerCase()}"><code>${dialogue.map(one => dialogueLine(stream, one))}</code></pre>
<p>${richText(closing)}</p>
${rules(stream)}</section>
<section>
<h2>${title}: you send</h2>
${requests.map(requestArticle)}</section>
<section>
<h2>${title}: you receive</h2>
${received(stream).map(message => receivedArticle(stream, message))}</section>
`
}

/** The messages that the service sends, as replies or without a request. */
function received(stream: Stream): readonly Message[] {
  return messagesOf(stream).filter(message => !stream.requests.some(({ title }) => title === message.title))
}

function rules({ anchor, title, closeCodes, limits, errorCodes }: Stream): Html {
  return markup`<section aria-labelledby="${anchor}-limits">
<h3 id="${anchor}-limits">${title}: codes and limits</h3>
${
  errorCodes.length === 0
    ? markup``
    : table(
        'Error codes',
        ['Code', 'Meaning', 'What to do'],
        errorCodes.map(({ code, meaning, remedy }) => row(fieldName(code), meaning, remedy))
      )
}${table(
  'Close codes',
  ['Code', 'Meaning', 'What to do'],
  closeCodes.map(({ code, meaning, remedy }) => row(richText(String(code)), meaning, remedy))
)}
${table(
  'Limits',
  ['Limit', 'Value', 'When exceeded'],
  limits.map(({ what, value, beyond }) => row(richText(what), value, beyond))
)}</section>
`
}

function row(name: Html, second: string, third: string): Html {
  return markup`<tr><th scope="row">${name}</th><td>${richText(second)}</td><td>${richText(third)}</td></tr>\n`
}

function requestArticle(message: Request): Html {
  return article(message, 'send', markup`<p>${richText(message.rules)}</p>`, markup`<p>Answered with ${links(message.replies)}.</p>\n`)
}

function receivedArticle({ announcements, requests }: Stream, message: Message): Html {
  const announced = announcements.filter(({ messages }) => messages.includes(message))
  const answers = requests.filter(({ replies }) => replies.includes(message))
  return article(
    message,
    'receive',
    markup`${announced.map(rulesOf)}${answers.length === 0 ? '' : markup`<p>Answers ${links(answers)}.</p>`}`,
    markup``
  )
}

function rulesOf({ rules: text }: Announcement): Html {
  return markup`<p>${richText(text)}</p>\n`
}

function article({ title, name, summary, schema, example }: Message, way: string, rulesText: Html, end: Html): Html {
  return markup`<article id="${title}" aria-labelledby="${title}-title">
<h3 id="${title}-title"><code>${name}</code></h3>
<p class="address"><span class="method">${way}</span> ${richText(summary)}</p>
${rulesText}
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
  return joined(messages.map(({ title, name }) => markup`<a href="#${title}"><code>${name}</code></a>`))
}

/** One message of the dialogue per line. The contents of `data` are left out. */
function dialogueLine({ requests }: Stream, { title, example }: Message): Html {
  const isSent = requests.some(request => request.title === title)
  const text = JSON.stringify(example).replace(/"data":(?:(\{).*(\})|(\[).*(\]))\}$/, '"data":$1$3…$2$4}')
  return markup`<span class="${isSent ? 'sent' : 'received'}">${isSent ? '→' : '←'}\u00a0${text}</span>`
}
