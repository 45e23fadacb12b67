// JSON that no client has a reason to send: deep, wide, long, or with names that reach for prototypes. For every entry that reads JSON.

export interface HostileJson {
  readonly what: string
  /** A whole JSON value, fit to stand wherever a value may. */
  readonly text: string
}

const KEYS = 100_000
const MIB = 1024 * 1024

export const HOSTILE_JSON: readonly HostileJson[] = [
  { what: 'lists 33 deep', text: nested('[', 33, ']') },
  { what: 'lists 7,500 deep', text: nested('[', 7_500, ']') },
  { what: 'lists 30,000 deep', text: nested('[', 30_000, ']') },
  { what: 'lists 500,000 deep', text: nested('[', 500_000, ']') },
  { what: 'objects 2,500 deep', text: nested('{"0":', 2_500, '}') },
  { what: 'objects 9,000 deep', text: nested('{"0":', 9_000, '}') },
  { what: 'objects 100,000 deep', text: nested('{"a":', 100_000, '}') },
  { what: '100,000 names', text: `{${Array.from({ length: KEYS }, (_, index) => `"k${index}":0`).join(',')}}` },
  { what: '1,000 names that are numbers', text: `{${Array.from({ length: 1_000 }, (_, index) => `"${index * 4_000_000}":0`).join(',')}}` },
  { what: 'a string of 1 MiB', text: JSON.stringify('x'.repeat(MIB)) },
  { what: 'a string of 10 KiB', text: JSON.stringify('x'.repeat(10 * 1024)) },
  { what: 'a number of 10,000 digits', text: '9'.repeat(10_000) },
  { what: 'a number beyond all bounds', text: '1e999999' },
  { what: '__proto__', text: '{"__proto__":{"polluted":true}}' },
  { what: '__proto__ with escapes', text: '{"\\u005f\\u005fproto\\u005f\\u005f":{"polluted":true}}' },
  { what: 'constructor.prototype', text: '{"constructor":{"prototype":{"polluted":true}}}' },
  { what: 'names of methods', text: '{"toString":1,"valueOf":1,"hasOwnProperty":1,"then":1,"toJSON":1}' },
  { what: 'NUL and half a character', text: '"\\u0000\\ud800"' }
]

function nested(open: string, depth: number, close: string): string {
  return `${open.repeat(depth)}1${close.repeat(depth)}`
}

/** Whether something that was read has changed what every object inherits. */
export function isPolluted(): boolean {
  return 'polluted' in {}
}
