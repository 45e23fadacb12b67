import type * as client from './index.js' with { 'resolution-mode': 'import' }
export type * from './index.js' with { 'resolution-mode': 'import' }
export declare const ConnectError: typeof client.ConnectError
export type ConnectError = client.ConnectError
export declare const createConnect: typeof client.createConnect
