// The AsyncAPI document, generated from the message definitions.
import { BROKER_STREAM } from './broker-stream.ts'
import { Components, type Description, type Json, json } from './components.ts'
import { type Announcement, type Message, messagesOf, type Request, type Stream } from './described.ts'
import { MARKET_STREAM } from './market-stream.ts'

export const STREAMS: readonly Stream[] = [BROKER_STREAM, MARKET_STREAM]

const INTRODUCTION = `Two WebSockets. Messages are JSON text: yours carry \`action\`, and most of the service’s carry \`type\`. Ignore unknown types
and fields, because more may be added. A handshake that is refused is answered in the JSON of every error of the REST API: 400
\`upgrade_malformed\`, 403 \`origin_not_allowed\`, 404 \`route_not_found\`, 429 \`rate_limited\`, 503 \`shutting_down\`. This document describes the service: it *receives* what you send, and *sends* what you receive.`

/** The whole document, for the service at `publicUrl`. */
export function asyncApi(publicUrl: string): Description {
  // In an upgrade a session may get frames that a node of the next version encoded, and the service ignores fields that it does not know.
  const components = new Components(true)
  const messages = STREAMS.flatMap(messagesOf).map(message => [message.title, messageObject(message, components)] as const)
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Trunkline streams',
      version: '1.0.0',
      description: [INTRODUCTION, ...STREAMS.map(({ title, summary }) => `**${title}**: ${summary}`)].join('\n\n'),
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
      externalDocs: { description: 'The same content as a web page, with the REST API', url: `${publicUrl}/docs#stream` }
    },
    defaultContentType: 'application/json',
    servers: Object.fromEntries(STREAMS.map(stream => [stream.id, server(stream, publicUrl)])),
    channels: Object.fromEntries(STREAMS.map(stream => [stream.id, channel(stream)])),
    operations: Object.fromEntries(STREAMS.flatMap(operations)),
    components: {
      messages: Object.fromEntries(messages),
      schemas: components.schemas,
      securitySchemes: Object.fromEntries(STREAMS.map(({ security: { name, scheme } }) => [name, { ...scheme }]))
    }
  }
}

/** The stream's WebSocket URL. */
export function streamUrl(publicUrl: string, { path }: Pick<Stream, 'path'>): string {
  return `${publicUrl.replace(/^http/, 'ws')}${path}`
}

function server({ title, security }: Stream, publicUrl: string): Json {
  const { host, protocol } = new URL(publicUrl)
  return {
    host,
    protocol: protocol === 'https:' ? 'wss' : 'ws',
    description: `This service, for the ${title.toLowerCase()}.`,
    security: [{ $ref: `#/components/securitySchemes/${security.name}` }]
  }
}

function channel(stream: Stream): Json {
  const { id, title, path, summary, introduction } = stream
  return {
    address: path,
    title,
    summary,
    description: `${introduction}\n\n${tables(stream)}`,
    servers: [{ $ref: `#/servers/${id}` }],
    messages: Object.fromEntries(messagesOf(stream).map(({ title: name }) => [name, { $ref: `#/components/messages/${name}` }])),
    bindings: { ws: { method: 'GET', bindingVersion: '0.1.0' } }
  }
}

function messageObject({ title, name, summary, schema, example }: Message, components: Components): Json {
  return {
    name,
    title,
    summary,
    payload: components.reference(schema),
    examples: [{ name, payload: json(example) }]
  }
}

function operations(stream: Stream): readonly (readonly [string, Json])[] {
  const { prefix, requests, announcements } = stream
  return [
    ...requests.map(request => [`${prefix}${request.name}`, receive(stream, request)] as const),
    ...announcements.map(announcement => [`${prefix}send_${announcement.id}`, send(stream, announcement)] as const)
  ]
}

function receive(stream: Stream, { title, summary, rules, replies }: Request): Json {
  return {
    action: 'receive',
    channel: { $ref: addressOf(stream) },
    summary,
    description: rules,
    messages: [messageOf(stream, title)],
    reply: { channel: { $ref: addressOf(stream) }, messages: replies.map(reply => messageOf(stream, reply.title)) }
  }
}

function send(stream: Stream, { summary, rules, messages }: Announcement): Json {
  const received = messages.map(({ title }) => messageOf(stream, title))
  return { action: 'send', channel: { $ref: addressOf(stream) }, summary, description: rules, messages: received }
}

function addressOf({ id }: Stream): string {
  return `#/channels/${id}`
}

function messageOf(stream: Stream, title: string): Json {
  return { $ref: `${addressOf(stream)}/messages/${title}` }
}

function tables({ closeCodes, limits, errorCodes }: Stream): string {
  return [
    ...(errorCodes.length === 0
      ? []
      : [
          table(
            ['Error code', 'Meaning', 'What to do'],
            errorCodes.map(({ code, meaning, remedy }) => [`\`${code}\``, meaning, remedy])
          )
        ]),
    table(
      ['Close code', 'Meaning', 'What to do'],
      closeCodes.map(({ code, meaning, remedy }) => [String(code), meaning, remedy])
    ),
    table(
      ['Limit', 'Value', 'When exceeded'],
      limits.map(({ what, value, beyond }) => [what, value, beyond])
    )
  ].join('\n\n')
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map(cells => `| ${cells.join(' | ')} |`).join('\n')
}
