# Adds up expenses by category and month and writes a Markdown table. Amounts are cents from the first
# line to the last; a row that is not understood ends the script, for a sum without it would be wrong.
#
#   ruby table.rb --in expenses.csv --out expenses.md
# frozen_string_literal: true

require "csv"
require "optparse"

ROW = { date: /\A\d{4}-(\d{2})-\d{2}\z/, amount: /\A(\d+)\.(\d{2})\z/ }.freeze

def cents(text)
  found = ROW[:amount].match(text) or raise ArgumentError, "no amount: #{text}"
  found[1].to_i * 100 + found[2].to_i
end

def month(text)
  found = ROW[:date].match(text) or raise ArgumentError, "no date: #{text}"
  found[1]
end

def money(cents)
  format("%d.%02d", cents / 100, cents % 100)
end

def sums(rows)
  rows.each_with_object(Hash.new { |all, name| all[name] = Hash.new(0) }) do |row, by_category|
    by_category[row.fetch("category")][month(row.fetch("date"))] += cents(row.fetch("amount"))
  end
end

def table(by_category)
  months = by_category.values.flat_map(&:keys).uniq.sort
  line = ->(name, cells) { "| #{name} | #{cells.map { |it| money(it) }.join(' | ')} |" }
  body = by_category.sort.map do |name, by_month|
    line.call(name, months.map { |m| by_month[m] } + [by_month.values.sum])
  end
  totals = months.map { |m| by_category.values.sum { |by_month| by_month[m] } }
  head = "| category | #{months.join(' | ')} | total |"
  rule = "|---|#{'--:|' * (months.size + 1)}"
  [head, rule, *body, line.call("total", totals + [totals.sum])].join("\n") + "\n"
end

options = {}
parser = OptionParser.new
["--in FILE", "--out FILE"].each { |option| parser.on(option) }
parser.parse!(into: options)
rows = CSV.read(options.fetch(:in), headers: true)
File.write(options.fetch(:out), table(sums(rows)))
puts "#{rows.size} expenses"
