/**
 * Accepted connections of a port: their number, their limits before authentication, and log lines of peers. All ports
 * use it.
 */
package io.regatta.protocol.connection;
