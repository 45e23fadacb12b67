/** Creates a self-signed certificate, so that the repository has no key. DER by hand: X.509 v3, ECDSA P-256. */

import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'

export interface Certificate {
  readonly cert: string
  readonly key: string
}

/** For `127.0.0.1` and these names, valid from yesterday for `days` days. */
export function selfSigned(days: number, nowMs: number = Date.now(), names: readonly string[] = []): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const body = tbs(publicKey, nowMs - 86_400_000, nowMs - 86_400_000 + days * 86_400_000, names)
  const der = seq(body, ECDSA_SHA256, tag(0x03, Buffer.concat([Buffer.of(0), sign('sha256', body, privateKey)])))
  const pem = der.toString('base64').replace(/.{1,64}/g, line => `${line}\n`)
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${pem}-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  }
}

function tbs(publicKey: KeyObject, fromMs: number, untilMs: number, names: readonly string[]): Buffer {
  const name = seq(tag(0x31, seq(tag(0x06, Buffer.from('550403', 'hex')), tag(0x0c, Buffer.from('test')))))
  const alternative = seq(
    tag(0x06, Buffer.from('551d11', 'hex')),
    tag(0x04, seq(tag(0x87, Buffer.of(127, 0, 0, 1)), ...names.map(name => tag(0x82, Buffer.from(name)))))
  )
  return seq(
    tag(0xa0, tag(0x02, Buffer.of(2))),
    tag(0x02, Buffer.of(1)),
    ECDSA_SHA256,
    name,
    seq(time(fromMs), time(untilMs)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    tag(0xa3, seq(alternative))
  )
}

function time(ms: number): Buffer {
  return tag(0x18, Buffer.from(`${new Date(ms).toISOString().slice(0, 19).replace(/[-:T]/g, '')}Z`))
}

function seq(...parts: readonly Buffer[]): Buffer {
  return tag(0x30, Buffer.concat(parts))
}

function tag(type: number, content: Buffer): Buffer {
  const { length } = content
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.of(type, ...size), content])
}

const ECDSA_SHA256 = seq(tag(0x06, Buffer.from('2a8648ce3d040302', 'hex')))
