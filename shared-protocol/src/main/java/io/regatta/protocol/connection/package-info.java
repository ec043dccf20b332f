/** Accepted connections of a port: how many there may be, what one may do before it authenticates, and log lines of peers. */
package io.regatta.protocol.connection;
