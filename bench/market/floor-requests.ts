/** What the floor is asked: to read the front's market stream, and to be read. */
export type FloorRequests = {
  readonly open: {
    readonly input: { readonly sandboxUrl: string; readonly symbols: readonly string[] }
    readonly output: { readonly url: string }
  }
}
