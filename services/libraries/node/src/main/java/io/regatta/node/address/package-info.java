/**
 * Addresses of a process: {@code host:port}, the published address, and ports that one service holds alone. Services
 * use them to listen and to announce themselves. Part of the public API.
 */
package io.regatta.node.address;
