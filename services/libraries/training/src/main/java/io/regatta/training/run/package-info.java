/**
 * The run of a program on one rank: loading and checking it, its replicas' model threads, what they and the ranks do
 * together, its progress on the console, its figures at the end.
 */
package io.regatta.training.run;
