/**
 * The heter worker as a service: it computes the part after the cut of a network for trainers. Its verticle and main
 * program, the queue of batches, and the streams of its trainers. It is started by {@code launch} and the commands.
 */
package io.regatta.heterworker;
