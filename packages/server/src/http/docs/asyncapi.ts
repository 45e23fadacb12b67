// The AsyncAPI document, made from the messages themselves: nothing about the stream is written twice.
import { Components, type Description, type Json, json } from './components.ts'
import { ANNOUNCEMENTS, type Announcement, MESSAGES, type Message, REQUESTS, type Request } from './stream-messages.ts'
import { CLOSE_CODES, LIMITS } from './stream-rules.ts'

const CHANNEL = { $ref: '#/channels/stream' }

const INTRODUCTION = `Every change of an order, a position or a balance of the users you name, at any broker, as it happens.

Messages are JSON text. Yours carry \`action\`, the service’s \`type\`. This document describes the service: it *receives* what you send, and
*sends* what you receive.

1. Connect. The service says \`welcome\`.
2. Send \`authenticate\` with the platform’s credentials.
3. Send \`subscribe\` for the topics and \`subscribe_user\` for each user.
4. Read a snapshot by REST, and apply what comes. Keep each user’s last \`seq\`.
5. When the line is lost, do the same again, with \`after\`.

Updates are exactly what \`GET /events\` of the REST API lists, so that you can prove that nothing was missed. Ignore a \`type\`, and a field, that you do
not know: more may come.

A session that cannot keep up is closed, never thinned.`

/** The whole document, for the service at `publicUrl`. */
export function asyncApi(publicUrl: string): Description {
  const components = new Components()
  const messages = Object.fromEntries(MESSAGES.map(message => [message.title, messageObject(message, components)]))
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Trunkline broker stream',
      version: '1.0.0',
      description: `${INTRODUCTION}\n\n${tables()}`,
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
      externalDocs: { description: 'The same for people, with the REST API', url: `${publicUrl}/docs#stream` }
    },
    defaultContentType: 'application/json',
    servers: { service: server(publicUrl) },
    channels: {
      stream: {
        address: STREAM_PATH,
        title: 'Broker stream',
        description: 'Updates of orders, positions and balances.',
        servers: [{ $ref: '#/servers/service' }],
        messages: Object.fromEntries(MESSAGES.map(({ title }) => [title, { $ref: `#/components/messages/${title}` }])),
        bindings: { ws: { method: 'GET', bindingVersion: '0.1.0' } }
      }
    },
    operations: Object.fromEntries([
      ...REQUESTS.map(request => [request.word, receive(request)] as const),
      ...ANNOUNCEMENTS.map(announcement => [`send_${announcement.id}`, send(announcement)] as const)
    ]),
    components: { messages, schemas: components.schemas, securitySchemes: SECURITY_SCHEMES }
  }
}

export const STREAM_PATH = '/stream'

const SECURITY_SCHEMES = {
  platform: {
    type: 'userPassword',
    description:
      'The platform’s `client_id` and `client_secret`, in the first message, `authenticate`. No header and no query parameter is read.'
  }
}

/** Where the stream is reached. */
export function streamUrl(publicUrl: string): string {
  return `${publicUrl.replace(/^http/, 'ws')}${STREAM_PATH}`
}

function server(publicUrl: string): Json {
  const { host, protocol } = new URL(publicUrl)
  return {
    host,
    protocol: protocol === 'https:' ? 'wss' : 'ws',
    description: 'This service.',
    security: [{ $ref: '#/components/securitySchemes/platform' }]
  }
}

function messageObject({ title, word, summary, schema, example }: Message, components: Components): Json {
  return {
    name: word,
    title,
    summary,
    payload: components.reference(schema),
    examples: [{ name: word, payload: json(example) }]
  }
}

function receive({ title, summary, rules, replies }: Request): Json {
  return {
    action: 'receive',
    channel: CHANNEL,
    summary,
    description: rules,
    messages: [messageOfChannel(title)],
    reply: { channel: CHANNEL, messages: replies.map(reply => messageOfChannel(reply.title)) }
  }
}

function send({ summary, rules, messages }: Announcement): Json {
  return { action: 'send', channel: CHANNEL, summary, description: rules, messages: messages.map(({ title }) => messageOfChannel(title)) }
}

function messageOfChannel(title: string): Json {
  return { $ref: `${CHANNEL.$ref}/messages/${title}` }
}

function tables(): string {
  return [
    table(
      ['Close code', 'What it means', 'What to do'],
      CLOSE_CODES.map(({ code, meaning, remedy }) => [String(code), meaning, remedy])
    ),
    table(
      ['Limit', 'Value', 'Beyond it'],
      LIMITS.map(({ what, value, beyond }) => [what, value, beyond])
    )
  ].join('\n\n')
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map(cells => `| ${cells.join(' | ')} |`).join('\n')
}
