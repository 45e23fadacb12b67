// What the service itself says its stream's messages look like.
import assert from 'node:assert/strict'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { Body } from './api.ts'
import { closed } from './closed.ts'

/** The messages of `/asyncapi.json` that the service sends on the broker stream. */
export class StreamContract {
  readonly #byType: ReadonlyMap<string, ValidateFunction>

  private constructor(byType: ReadonlyMap<string, ValidateFunction>) {
    this.#byType = byType
  }

  static async of(url: string): Promise<StreamContract> {
    const response = await fetch(`${url}/asyncapi.json`)
    assert.equal(response.status, 200, 'the stream is described at /asyncapi.json')
    const document: Body = await response.json()
    assert.match(document.asyncapi, /^3\./)
    const ajv = new Ajv2020({ strict: false, allErrors: true, formats: { decimal: /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/ } })
    addFormats.default(ajv)
    ajv.addSchema({ ...closed(document), $id: 'stream' })
    const channel = Object.values<Body>(document.channels).find(({ address }) => address === '/stream')
    const sent = Object.keys(channel.messages)
      .map((name): [string, Body] => [name, document.components.messages[name]])
      .filter(([, message]) => nameOf(document, message) !== undefined)
    return new StreamContract(
      new Map(
        sent.map(([name, message]) => [
          nameOf(document, message) ?? name,
          ajv.compile({ $ref: `stream#/components/messages/${encodeURIComponent(name)}/payload` })
        ])
      )
    )
  }

  get types(): readonly string[] {
    return [...this.#byType.keys()]
  }

  /** What is wrong with a message of the service, or null. */
  complaint(message: Body): string | null {
    const isFit = this.#byType.get(message?.type)
    if (isFit === undefined) return `the reference has no message of the type ${message?.type}`
    return isFit(message) ? null : JSON.stringify(isFit.errors, null, 1)
  }
}

/** The `type` of a message of the service; undefined for a message of the client. */
function nameOf(document: Body, { payload }: Body): string | undefined {
  const schema = payload.$ref === undefined ? payload : document.components.schemas[payload.$ref.replace('#/components/schemas/', '')]
  return schema.properties.type?.const
}
