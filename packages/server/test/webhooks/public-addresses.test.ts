import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Malformed } from '@trunkline/core/domain/malformed'
import { PublicAddresses } from '../../src/webhooks/public-addresses.ts'
import { parseWebhookUrl } from '../../src/webhooks/webhook-url.ts'

const PUBLIC = new PublicAddresses([])
const REFUSED = [
  ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '100.64.0.1', '100.127.255.255', '127.0.0.1', '127.255.255.254', '169.254.169.254'],
  ...['172.16.0.1', '172.31.255.255', '192.0.0.8', '192.0.2.1', '192.88.99.1', '192.168.1.1', '198.18.0.1', '198.19.255.255'],
  ...['198.51.100.1', '203.0.113.1', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
  ...['::', '::1', '::127.0.0.1', '::ffff:127.0.0.1', '::ffff:8.8.8.8', '::ffff:0:8.8.8.8', '64:ff9b::7f00:1', '64:ff9b::8.8.8.8'],
  ...['64:ff9b:1::1', '100::1', '2001::1', '2001:0:7f00:1::', '2001:2::1', '2001:20::1', '2001:db8::1', '2002:7f00:1::1', '3fff::1'],
  ...['5f00::1', 'fc00::1', 'fd12:3456::1', 'fe80::1', 'fe80::1%eth0', '2606:4700::1111%eth0', 'fec0::1', 'ff02::1'],
  ...['', 'localhost', '0x7f.1', '2130706433', '0177.0.0.1', '127.1', '8.8.8.8 ', '8.8.8.8/32']
]

test('addresses that are not public are refused, in any form [S75]', () => {
  for (const address of REFUSED) assert.equal(PUBLIC.judge(address), 'refused', address)
  for (const address of ['8.8.8.8', '1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450:4001::200e', '2001:4860::8888'])
    assert.equal(PUBLIC.judge(address), 'public', address)
})

test('networks of the operator are allowed, and nothing beside them', () => {
  const addresses = new PublicAddresses(['10.1.0.0/16', '127.0.0.1', 'fd00:1::/32'])
  for (const address of ['10.1.2.3', '127.0.0.1', 'fd00:1::2', '::ffff:10.1.2.3'])
    assert.equal(addresses.judge(address), 'allowed', address)
  for (const address of ['10.2.0.1', '127.0.0.2', 'fd00:2::1', '::ffff:10.2.0.1'])
    assert.equal(addresses.judge(address), 'refused', address)
})

test('a URL whose host is an internal address is refused in every notation [S75]', () => {
  const hosts = [
    ...[
      '127.0.0.1',
      '127.1',
      '0x7f.1',
      '0x7f000001',
      '2130706433',
      '0177.0.0.1',
      '017700000001',
      '127.0.0.1.',
      '0',
      '0x0',
      '%31%32%37.0.0.1'
    ],
    ...['１２７.0.0.1', '①②⑦.0.0.1', '127。0。0。1', '[::1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[0:0:0:0:0:ffff:7f00:1]'],
    ...['[64:ff9b::127.0.0.1]', '[2002:7f00:1::]', '[fe80::1]', '[fe80::1%25eth0]', '[fd00::1]', '[2001::1]', '169.254.169.254', '10.0.0.1']
  ]
  for (const host of hosts)
    for (const port of ['', ':8443']) assert.throws(() => parseWebhookUrl(`https://${host}${port}/hook`, PUBLIC), Malformed, host)
})

test('URLs with credentials, fragments, other schemes, other ports or ambiguous characters are refused [S75]', () => {
  const urls = [
    ...[
      'https://user@example.com/',
      'https://user:pass@example.com/',
      'https://@example.com/',
      'https://:@example.com/',
      'https:@example.com/'
    ],
    ...['https://example.com/#', 'https://example.com/#part', 'http://example.com/', 'ftp://example.com/', 'file:///etc/passwd'],
    ...[
      'https://example.com:25/',
      'https://example.com:22/',
      'https://example.com:0/',
      'https://example.com:80/',
      'https://example.com:65536/'
    ],
    ...[
      'https://exa\tmple.com/',
      ' https://example.com/',
      'https://example.com/\n',
      'https://example.com\\@127.0.0.1/',
      'https://exam\u00adple.com/'
    ],
    ...[
      'https://example.com./',
      'https://ex_ample.com./',
      'https://*.example.com/',
      'https:///',
      'example.com',
      '',
      `https://example.com/${'a'.repeat(2_048)}`
    ]
  ]
  for (const url of urls) assert.throws(() => parseWebhookUrl(url, PUBLIC), Malformed, url)
})

test('a refused receiver of the own machine names the setting that allows it, and its names are that machine', () => {
  for (const url of [
    'http://127.0.0.1:9000/',
    'http://localhost:9000/',
    'https://a.localhost/',
    'http://hooks.example.com/',
    'https://[::1]/'
  ])
    assert.throws(() => parseWebhookUrl(url, PUBLIC), /TRUNKLINE_WEBHOOK_NETWORKS \(for this machine: 127\.0\.0\.0\/8\)/, url)
  for (const networks of [['127.0.0.0/8'], ['::1']])
    assert.equal(parseWebhookUrl('http://localhost:9000/', new PublicAddresses(networks)).port, 9_000)
  assert.throws(() => parseWebhookUrl('http://localhost:9000/', new PublicAddresses(['10.0.0.0/8'])), Malformed)
})

test('public URLs are accepted, with names in ASCII', () => {
  const parsed = (url: string) => parseWebhookUrl(url, PUBLIC)
  assert.deepEqual(parsed('https://Hooks.Example.com/a?b=c'), {
    ...{ href: 'https://hooks.example.com/a?b=c', isHttps: true, host: 'hooks.example.com', isAddress: false, port: 443 }
  })
  assert.equal(parsed('https://bücher.example/').host, 'xn--bcher-kva.example')
  assert.equal(parsed('https://8.8.8.8:8443/').port, 8443)
  assert.deepEqual([parsed('https://[2606:4700::1111]/').host, parsed('https://[2606:4700::1111]/').isAddress], ['2606:4700::1111', true])
})

test('http and every port are for allowed networks; of a name this is judged when it is resolved', () => {
  const addresses = new PublicAddresses(['127.0.0.0/8'])
  assert.equal(parseWebhookUrl('http://127.0.0.1:25/', addresses).port, 25)
  assert.equal(parseWebhookUrl('http://hooks.internal/', addresses).port, 80)
  assert.throws(() => parseWebhookUrl('http://8.8.8.8/', addresses), Malformed)
  assert.throws(() => parseWebhookUrl('https://10.0.0.1/', addresses), Malformed)
})
