/**
 * A project of a user's own: one program that trains a model. Its main method is the way in.
 */
package org.example;
