/** node-postgres' own conversion of parameters, which its type package leaves out. */
declare module 'pg/lib/utils.js' {
  export function prepareValue(value: unknown): string | Buffer | null
}
