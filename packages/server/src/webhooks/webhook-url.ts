// URLs of endpoints: their form, and what can be judged before their names are resolved.
import { isIP } from 'node:net'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { AddressJudgement, PublicAddresses } from './public-addresses.ts'

/** Where an endpoint is. */
export interface WebhookUrl {
  /** As the URL standard writes it: numbers as dotted IPv4, names in ASCII. */
  readonly href: string
  readonly isHttps: boolean
  /** A name, or an address without brackets. */
  readonly host: string
  readonly isAddress: boolean
  readonly port: number
}

export const URL_CHARS_MAX = 2_048
const PORT_MIN = 1_024
const HTTPS_PORT = 443
const HTTP_PORT = 80
/** Parsers of URLs drop or rewrite these, and differ in it. */
const AMBIGUOUS = /[\p{Cc}\p{Cf}\p{Z}\\]/u
/** What a newcomer meets first, with a receiver on the same machine. */
const HOW_TO_ALLOW = 'the operator allows with TRUNKLINE_WEBHOOK_NETWORKS (for this machine: 127.0.0.0/8)'
const LOOPBACK = ['127.0.0.1', '::1']
const LOCAL_NAME = /(^|\.)localhost$/
const NAME = /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/**
 * Parses the URL of an endpoint, and judges it if its host is an address. The addresses of a name are judged at each attempt.
 * @throws Malformed saying what was expected
 */
export function parseWebhookUrl(text: string, addresses: PublicAddresses): WebhookUrl {
  const url = formed(text)
  const judgement = judgementOf(url, addresses)
  if (judgement === 'refused') throw new Malformed('url', `a public address, or one that ${HOW_TO_ALLOW}`, url.host)
  // Of a name it is not known yet whether it is in an allowed network.
  const mayBeAllowed = judgement === null ? addresses.allowsAny : judgement === 'allowed'
  if (!mayBeAllowed && !isForPublic(url))
    throw new Malformed(
      'url',
      `https on port 443 or 1024 to 65535, or an address that ${HOW_TO_ALLOW}`,
      `${url.isHttps ? 'https' : 'http'} on port ${url.port}`
    )
  return url
}

/** Whether these scheme and port are allowed at a public address: not those of other services of a host, such as mail. */
export function isForPublic({ isHttps, port }: Pick<WebhookUrl, 'isHttps' | 'port'>): boolean {
  return isHttps && (port === HTTPS_PORT || port >= PORT_MIN)
}

function formed(text: string): WebhookUrl {
  if (text.length > URL_CHARS_MAX) throw new Malformed('url', `at most ${URL_CHARS_MAX} characters`, `${text.length} characters`)
  const url = AMBIGUOUS.test(text) ? null : URL.parse(text)
  const isHttps = url?.protocol === 'https:'
  if (url === null || (!isHttps && url.protocol !== 'http:'))
    throw new Malformed('url', 'a URL such as https://hooks.example.com/trunkline', 'another text')
  if (url.username !== '' || url.password !== '' || authorityOf(text).includes('@'))
    throw new Malformed('url', 'a URL without a user and a password', 'one with credentials')
  if (text.includes('#')) throw new Malformed('url', 'a URL without a fragment', 'one with #')
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const isAddress = isIP(host) !== 0
  // A full stop at the end is another name for certificates and the same one for resolvers.
  if (!isAddress && !NAME.test(host)) throw new Malformed('url', 'a host name or an address, without a full stop at its end', host)
  // Names and paths grow when they are written in ASCII.
  if (url.href.length > URL_CHARS_MAX)
    throw new Malformed('url', `at most ${URL_CHARS_MAX} characters in ASCII`, `${url.href.length} characters`)
  if (url.port === '0') throw new Malformed('url', 'a port from 1 to 65535', '0')
  return { href: url.href, isHttps, host, isAddress, port: url.port === '' ? (isHttps ? HTTPS_PORT : HTTP_PORT) : Number(url.port) }
}

/** Null for a name; `localhost` is one whose addresses are known. */
function judgementOf({ host, isAddress }: WebhookUrl, addresses: PublicAddresses): AddressJudgement | null {
  if (isAddress) return addresses.judge(host)
  if (!LOCAL_NAME.test(host)) return null
  return LOOPBACK.some(address => addresses.judge(address) === 'allowed') ? 'allowed' : 'refused'
}

/** An empty user is dropped by the parser. */
function authorityOf(text: string): string {
  return /^[^:]*:\/*([^/?#]*)/.exec(text)?.[1] ?? ''
}
