import { type Connected, type ConnectOutcome, type Exited } from '../connect/index.js';
export interface UseTrunklineConnectOptions {
    /** The `authorization_url` of `connections.create`; null until your back end has answered with it. */
    readonly link: string | null;
    /** The origin of the service as browsers reach it; that of the link. */
    readonly portalOrigin?: string;
    /** `popup`; a frame needs a registered `redirect_url`, and a container. */
    readonly mode?: 'popup' | 'frame';
    /** A ref of the element that the frame is put into. React must not render into it. */
    readonly container?: {
        readonly current: Element | null;
    };
    readonly onSuccess?: (connected: Connected) => void;
    readonly onExit?: (exited: Exited) => void;
}
export interface TrunklineConnect {
    /**
     * Opens the link; call it from a click. While it is open, its window comes to the front instead.
     *
     * @throws ConnectError as a rejection: the link or an option cannot be used.
     */
    readonly open: () => Promise<ConnectOutcome>;
    /** There is a link, and it is not open. */
    readonly ready: boolean;
}
/**
 * The portal for a component. The callbacks are those of the newest render. When the component goes away, the window is closed and none of
 * them is called.
 */
export declare function useTrunklineConnect(options: UseTrunklineConnectOptions): TrunklineConnect;
