/**
 * The trainer as a service, one rank on a cluster: its verticle and main program, its seat in the group, its links to
 * the shards. It is started by {@code launch} and the commands. Part of the public API.
 */
package io.regatta.trainer;
